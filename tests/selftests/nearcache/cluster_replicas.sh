#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With replicas, the local node reads the extents that it keeps here, and the others at the nodes
# that keep them. After an error a read goes to the other copies before any other node. The trace
# events of peers agree with the counters.
# kernels: 6.12
# cpus: 1
. ./cluster.sh
TRACE=/sys/kernel/tracing
PEERS=(one two three four)

watch() {
	trace_events "$1" nearcache/nearcache_peer_read nearcache/nearcache_peer_state
}

# traced PATTERN: print the number of events that match.
traced() {
	grep -cE -- "$1" $TRACE/trace
}

echo 4096 >$TRACE/buffer_size_kb
echo >$TRACE/trace
at_exit watch 0
watch 1
REPLICAS=2 fresh_cluster 16
for name in "${PEERS[@]}"; do
	same "changes to up" "$(traced "nearcache_peer_state:.* node=$name state 2 -> 0")" 1
done
right
# Of 5 nodes, 2 keep each extent.
here=$(node bytes 0)
((here > (16 << 20) / 4 && here < (16 << 20) * 55 / 100)) || fail "$here bytes were read here"
i=0
for name in "${PEERS[@]}"; do
	i=$((i + 1))
	same "reads at $name" "$(traced "nearcache_peer_read:.* node=$name latency=[0-9]+ error=0")" "$(node ended $i)"
done
watch 0
# The homes of each extent, first to last.
mapfile -t homes < <(./cluster_homes -l $((16 * 2048 / EXTENT)) me:10 one:10 two:10 three:10 four:10)
echo >$TRACE/trace
watch 1
# Sectors that a peer cannot read go to the other node that keeps them. The errors are few at a time,
# so that the peer stays up.
broken two
for ((extent = 0; extent < ${#homes[@]}; extent++)); do
	read -r first second _ <<<"${homes[extent]}"
	[[ $first != me && $second != me ]] || continue
	[[ $first == two || $second == two ]] || continue
	other=$first
	[[ $first != two ]] || other=$second
	echo >$TRACE/trace
	right -s $((extent * EXTENT)) -n 8 -b 8 >/dev/null
	if (($(traced "node=two .* error=-5") > 0)); then
		same "next home of extent $extent ($first $second)" "$(traced "node=$other .* error=0")" 1
		tried=$((${tried:-0} + 1))
	fi
	((${tried:-0} < 3)) || break
done
((${tried:-0} > 0)) || fail "no read met the error"
mended two

# The largest cluster: all nodes take part, and reads find their homes.
nodes="me 1 -"
for ((i = 1; i < 256; i++)); do
	nodes+=" node$i 1 /dev/mapper/${PEERS[i % 4]}"
done
dmsetup message cl 0 "nodes 256 $nodes" || fail "256 nodes"
! dmsetup message cl 0 "nodes 257 $nodes more 1 -" 2>/dev/null || fail "257 nodes were accepted"
for i in 1 255; do
	await_state $i $UP
done
right -t 2
(($(node bytes 255) > 0 || $(node bytes 254) > 0)) || fail "the last nodes are not read"
dm_remove cl || fail "remove"
