#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Four guests are nodes of a cluster; their volume is an NVMe/TCP volume of a fifth one, which counts
# the bytes that it serves. When each sample is read by one node, and when each node reads
# everything, the volume serves each byte once, and nothing in later epochs: the caches together hold
# everything. Without the cluster, the same caches read the volume four times.
#
# The few reads beside those of the caches tell the cluster devices how fast the volume is.
# kernels: 6.12
# when: soak
# timeout: 900
# shellcheck disable=SC2016 # steps are for the guest
set -euo pipefail
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"
SHARDS=12 SHARD_MB=4
D=$((SHARDS * SHARD_MB << 20))

nodes_begin 64M
CACHE_SIZE=28M boots $NODES
guest_ready $STORAGE
on $STORAGE "shards $SHARDS $SHARD_MB"
want=$answer
on $STORAGE 'serve && distant 40'
each "$NODES" begins

# served: set $bytes to the bytes that the volume served since the last call, and $cached to the bytes
# that the caches read of them.
total=0 caches=0
served() {
	local n
	on $STORAGE 'origin_reads "$(remote_backing)"'
	bytes=$((answer - total)) total=$answer
	cached=$((-caches))
	each "$NODES" caches_read
	for n in $NODES; do
		cached=$((cached + answers[n]))
	done
	caches=$((caches + cached))
}

# epoch WHAT DEVICE PER_CENT COMMAND: run the command on all nodes, with nothing in their memory; the
# volume may serve so much of D.
epoch() {
	local begin n time
	each "$NODES" "mounted $2"
	each "$NODES" drop_caches
	served
	begin=$SECONDS
	each "$NODES" "$4"
	time=$((SECONDS - begin + 1))
	for n in $NODES; do
		[[ $4 != sums || ${answers[n]} == "$want" ]] || guests_fail "wrong data on node $n: ${answers[n]}"
	done
	served
	each "$NODES" unmounted
	echo "$1: the volume served $bytes bytes, $((1000 * bytes / D)) per mille of D, $cached of them to caches, in $time s"
	((bytes * 100 > $3 * D)) || return 0
	each "$NODES" why
	failed+="$1; "
	printf '# %s\n' "${answers[@]}"
}

cold() {
	each "$NODES" leave
	each "$NODES" empty
	caches=0
	joined
}

joined() {
	each "$NODES" join
	each "$NODES" await_up
}

failed=''
joined
served
echo "nodes join: the volume served $bytes bytes"
epoch "cold, each sample once" /dev/mapper/v 102 'samples 4 $((VM_NODE - 1)) 1'
epoch "warm, each sample once" /dev/mapper/v 2 'samples 4 $((4 - VM_NODE)) 2'
epoch "warm, everything on each node" /dev/mapper/v 2 sums
cold
epoch "cold, everything on each node" /dev/mapper/v 102 sums
epoch "warm, everything on each node" /dev/mapper/v 2 sums
# The control: the same caches without the cluster.
each "$NODES" leave
each "$NODES" empty
caches=0
epoch "without the cluster, cold" /dev/mapper/v-home 440 sums
((bytes * 100 > 390 * D)) || failed+="the volume served less than 3.9 D without the cluster; "
epoch "without the cluster, warm" /dev/mapper/v-home 440 sums
each "$NODES" 'nearcache close v-home >/dev/null && remote_disconnect'
guests_end
[[ ! $failed ]] || guests_fail "$failed"
