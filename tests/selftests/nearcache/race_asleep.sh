#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reclaim evicts two blocks during a hit on one of them that hangs. It must free the slot of the other
# one, but no block may get the slot of the hit before the hit has completed.
# kernels: 6.1
. ./gate.sh
block=128 # sectors

# occupy N: read a part of N more blocks, one after the other; fail unless each gets a slot.
occupy() {
	local before n
	now before blocks_used
	for ((n = 0; n < $1; n++, at += block)); do
		cached $at 8
	done
	more blocks_used "$before" "$1"
}

# few_evictable: leave just as many slots free as the low water mark, and pin all blocks except as
# many as reclaim frees at once. Sets first to the sector of the first block not pinned. Restarts
# the cache, because one that started empty retains a random part of the blocks.
few_evictable() {
	local pinned
	blocks=$(field blocks)
	low=$((blocks / 64))
	pinned=$((blocks - 2 * low)) first=$((pinned * block))
	for ((; at < first; at += 16 * block)); do
		cached $at $((first - at < 16 * block ? first - at : 16 * block))
	done
	at=$first
	stop nc
	start
	at_exit gate_open
	is blocks_warm $pinned
	at_exit rm -f /var/lib/nearcache/pins/nc.json
	nearcache pin nc 0-$((pinned * block / 2))K --no-load >/dev/null || fail "pin"
	is blocks_pinned $pinned
	occupy $low
}

gates 80 66
between read-only
few_evictable
gate hold cache read $(($(./sbset "$C" get data_offset) / 512)) $((1 << 20))
gate read hit "$NC" $((first + 5 * block)) 8
gate held cache 1
gate pass cache
for n in 5 6; do
	gate message nc invalidate $((first + n * block)) 8
	expect 'done'
done
cached $at 8
at=$((at + block))
gate until nc blocks_used = $((blocks - low))

# Other blocks take all free slots, and 40 more want a slot: none gets the slot of the hit.
occupy $low
for ((n = 0; n < 40; n++)); do
	cached $((at + n * block)) 8
done
is blocks_used "$blocks"
gate busy hit
gate let cache all
ends hit 1x8

cached $at 8
gate until nc blocks_used '<' "$blocks"
occupy 1
gate agree nc origin $first $((at - first))
is state 0
is damaged 0
