#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A fifth node joins a cluster of four guests whose caches are warm, while their readers check each
# byte. Only the extents move that have the new node as their home. It takes them from its peers: the
# volume serves hardly anything. A plain read of them over the same links shows how long that must take,
# and the first join shows the cost without it.
# kernels: 6.12
# when: soak
# timeout: 900
# shellcheck disable=SC2086,SC2016 # lists of nodes are several words; steps are for the guest
set -euo pipefail
NODES='1 2 3 4 5'
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"
# One extent is 1 MiB.
EXTENTS=160 LIMIT=9000
CACHE_SIZE=64M
D=$((EXTENTS << 20))
# Longest time of the warm-up, in per cent of that of a plain read.
WARM_PER_CENT=${WARM_PER_CENT:-110}
# Bits per second that each of the four old nodes can send.
LINK=${LINK:-16mbit}

# served: set $served_bytes to the bytes that the volume served to the caches since the last call. In
# addition, the cluster devices read a little to learn how fast the volume is.
declare -A cached
served() {
	local n
	served_bytes=0
	each "$NODES" caches_read
	for n in $NODES; do
		# A new cache counts from 0.
		((answers[n] >= ${cached[$n]:-0})) || cached[$n]=0
		served_bytes=$((served_bytes + answers[n] - ${cached[$n]:-0}))
		cached[$n]=${answers[n]}
	done
}

# at_most WHAT MAX: since the last call, the volume may have served MAX per mille of D.
at_most() {
	served
	volume_served
	echo "$1: the volume served $((1000 * served_bytes / D)) per mille of D to caches, $((1000 * bytes / D)) in all"
	((1000 * served_bytes <= $2 * D)) || guests_fail "$1: that is more than $2"
}

# epoch WHAT MAX: the nodes read everything, each another part.
epoch() {
	each "$NODES" 'part $VM_NODE 5'
	at_most "$@"
}

# fifth_joins: node 5 joins with an empty cache, and the others add it. The warm-up is measured later.
fifth_joins() {
	on 5 'join --no-warm'
	each "1 2 3 4" 'conf && join'
	each "$NODES" 'await_up 60'
}

# moved BEFORE AFTER: set $moved to the extents that have another home now, and their former ones.
moved() {
	local old new i count=0
	mapfile -t old <<<"$1"
	mapfile -t new <<<"$2"
	((${#old[@]} == EXTENTS && ${#new[@]} == EXTENTS)) || guests_fail "homes of ${#old[@]} and ${#new[@]} extents"
	moved=''
	for ((i = 0; i < EXTENTS; i++)); do
		[[ ${old[i]} != "${new[i]}" ]] || continue
		[[ ${new[i]} == n5 ]] || guests_fail "extent $i moves from ${old[i]} to ${new[i]}"
		moved+="$i:${old[i]#n} "
		count=$((count + 1))
	done
	echo "$count of $EXTENTS extents move"
	((100 * count <= 21 * EXTENTS && count)) || guests_fail "that is not up to 1/5 and 1 %"
}

nodes_begin ${EXTENTS}M
boots $NODES
guest_ready $STORAGE
on $STORAGE './blockdata write "$(remote_backing)" && serve && distant 20'
each "1 2 3 4" 'export NODES="1 2 3 4"; begins && join'
on 5 begins
each "1 2 3 4" 'NODES="1 2 3 4" await_up'
each "1 2 3 4" 'part $VM_NODE 4'
on 1 homes
before=$answer
at_most "four nodes, first epoch" 1020
readers_begin 1 2 3 4
fifth_joins
readers_end 1 2 3 4
echo "node 5 has joined: longest read of the others $took ms"
at_most "not warmed, while it joins" 220
each "$NODES" homes
for n in 1 2 3 4; do
	[[ ${answers[n]} == "${answers[5]}" ]] || guests_fail "nodes $n and 5 have different homes"
done
moved "$before" "${answers[5]}"
epoch "not warmed, first epoch" 220
epoch "not warmed, second epoch" 20

on 5 leave
on 5 empty
fifth_joins
each "1 2 3 4" "network tbf rate $LINK burst 256k latency 10s"
on 5 "fetch '$moved'"
plain=$answer
at_most "while it joins again" 20
on 5 warm
took=$answer
on 5 'nearcache stats v-home | awk '"'"'$1 == "fill_peer_bytes" { print $2 }'"'"
echo "warmed from the peers in $took ms, $answer bytes; a plain read takes $plain ms"
((100 * took <= WARM_PER_CENT * plain)) || guests_fail "that is more than $WARM_PER_CENT %"
at_most "warmed" 20
each "1 2 3 4" network
epoch "warmed, first epoch" 20
cluster_ends
