#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Four guests are nodes of a cluster whose caches together hold about half of the shards on their
# volume. In each epoch each sample is read by one node. From the second epoch the volume serves what
# the caches have no room for, and 2 % more: its own counter says so for each epoch. All data is right.
#
# The samples are read past the page cache: read-ahead would read samples of other nodes as well. The
# file system stays mounted, so that its metadata is not read in each epoch.
# kernels: 6.12
# when: soak
# timeout: 900
# shellcheck disable=SC2016 # steps are for the guest
set -euo pipefail
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"
SHARDS=24 SHARD_MB=4
D=$((SHARDS * SHARD_MB << 20))

# epoch WHAT SEED MAX: each node reads other samples than in the last epoch, in another order; the
# volume may serve MAX bytes.
epoch() {
	local begin=$SECONDS n served
	each "$NODES" "for i in 0 1 2 3; do samples 16 \$(((VM_NODE + $2) % 4 * 4 + i)) $2 direct & pids[i]=\$!; done; wait \${pids[0]} && wait \${pids[1]} && wait \${pids[2]} && wait \${pids[3]}"
	volume_served
	each "$NODES" caches_read
	served=$((-cached))
	for n in $NODES; do
		served=$((served + answers[n]))
	done
	cached=$((cached + served))
	echo "$1: the volume served $bytes bytes, $((1000 * bytes / D)) per mille of D ($((1000 * $3 / D)) allowed), $served bytes of them to caches, in $((SECONDS - begin)) s"
	((bytes <= $3)) || failed+="$1; "
}

nodes_begin 128M
CACHE_SIZE=${CACHE_SIZE:-13M} boots $NODES
guest_ready $STORAGE
on $STORAGE "shards $SHARDS $SHARD_MB"
want=$answer
on $STORAGE 'serve && distant 100'
# Small extents: each node is the home of a quarter of the data. No pause of an emulated peer counts as
# a failure.
each "$NODES" "EXTENT=256K; begins 'stall-timeout = 20s' 'keep-alive = 20s'"
each "$NODES" join
each "$NODES" await_up
each "$NODES" 'nearcache status v-home -j | sed -n "s/^ *\"blocks\": \([0-9]*\),*$/\1/p" | head -n 1'
room=0 cached=0 failed=''
for n in $NODES; do
	# A cache keeps up to twice a 64th of its blocks free for fills.
	room=$((room + (answers[n] - 2 * (answers[n] / 64) << 16)))
done
most=$((D > room ? D - room : 0))
echo "the caches have room for $room bytes, $((1000 * room / D)) per mille of D"
((1000 * room > 400 * D && 1000 * room < 600 * D)) || guests_fail "that is not about half"
each "$NODES" 'mounted /dev/mapper/v'
volume_served
epoch "epoch 1" 1 $((D + D / 50))
for i in 2 3 4; do
	epoch "epoch $i" $i $((most + D / 50))
done
each "$NODES" 'sums; unmounted'
for n in $NODES; do
	[[ ${answers[n]} == "$want" ]] || guests_fail "wrong data on node $n: ${answers[n]}"
done
[[ ! $failed ]] || { each "$NODES" why; printf '# %s\n' "${answers[@]}"; }
each "$NODES" 'leave && nearcache close v-home >/dev/null && remote_disconnect'
guests_end
[[ ! $failed ]] || guests_fail "the volume served more: $failed"
