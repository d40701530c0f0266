#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A hit whose block is evicted meanwhile, while slots are free still: reclaim waits for it asleep, and
# nobody gets the slot before the hit is through.
# kernels: 6.1
. ./gate.sh
block=128 # sectors

# occupy N: of so many blocks more something is read, one after the other, and each gets a slot.
occupy() {
	local before n
	now before blocks_used
	for ((n = 0; n < $1; n++, at += block)); do
		cached $at 8
	done
	more blocks_used "$before" "$1"
}

# few_evictable: as many slots are free as reclaim lets be, and as many blocks may go as it would free
# if it had to: all others are pinned. Sets first to where the former begin.
# Of a cache that was empty at its start it is chosen at random what stays (kmod/evict/spread.h).
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

# asleep FREE: the reclaim worker waits for hits, asleep; what it took is not free.
asleep() {
	local used stack
	now used blocks_used
	((blocks - used == $1)) || fail "a slot is given away while a hit reads from it"
	while read -r stack; do
		grep -qs '^State:.D' "${stack%stack}status" && grep -qsw nc_holds_wait "$stack" && return
	done < <(grep -lsw nc_reclaim_work /proc/[0-9]*/stack)
	return 1
}

gates 80 66
between read-only
few_evictable
gate hold cache read $(($(./sbset "$C" get data_offset) / 512)) $((1 << 20))
gate read hit "$NC" $((first + 5 * block)) 8
gate held cache 1
gate pass cache
gate message nc invalidate $((first + 5 * block)) 8
expect 'done'
cached $at 8
at=$((at + block))
wait_for 30 asleep $((low - 1)) || fail "nobody waits for hits"

# Others take all that is free, and more.
occupy $((low - 1))
for ((n = 0; n < 40; n++)); do
	cached $((at + n * block)) 8
done
is blocks_used "$blocks"
wait_for 30 asleep 0 || fail "hits are not waited for any more"
gate busy hit
gate let cache all
ends hit 1x8

gate until nc blocks_used '<' "$blocks"
occupy 1
gate agree nc origin $first $((at - first))
is state 0
is damaged 0
