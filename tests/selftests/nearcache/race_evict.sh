#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Other blocks want the slot of a block that is being written. Reclaim takes a slot without valid
# data first, but must not take it while data of a write or a hit is in flight to or from the slot.
# kernels: 6.1
. ./gate.sh

# full: fill every slot with data that is read repeatedly, so that no block is idle. Sets at to the
# first block that has no slot.
full() {
	local i
	blocks=$(field blocks)
	for _ in 1 2 3; do
		for ((i = 0; i < blocks; i++)); do
			gate get "$NC" $((i * 128)) 128
		done
		gate until nc fills_in_flight = 0
	done
	at=$((blocks * 128))
	is blocks_used "$blocks"
}

# wanted TRIES [UPDATES]: read the block at $at until it hits, that is, has a slot; false after
# TRIES reads. UPDATES updates are in flight all the time.
wanted() {
	local hits i
	for ((i = 0; i < $1; i++)); do
		now hits hits
		gate get "$NC" "$at" 128
		gate until nc fills_in_flight = "${2:-0}"
		gate value nc hits
		((REPLY == hits)) || return 0
	done
	return 1
}

# given: fail unless the block at $at gets a slot.
given() {
	wanted 200 || fail "no slot for another block"
	agrees "$at" 128 1x128
	at=$((at + 128))
}

# kept [UPDATES]: fail if the block at $at gets a slot that was neither free nor of an idle block.
kept() {
	local free evictions
	now evictions evictions
	now free blocks_used
	free=$((blocks - free))
	wanted 12 "$@" || return 0
	at=$((at + 128))
	gate value nc evictions
	((free + REPLY > evictions)) || fail "a slot in use was evicted (line ${BASH_LINENO[0]})"
}

# A write of a whole block is held at the origin: the slot has no valid data and is taken, except
# in writethrough mode, in which the data of the write will go to the slot.
at_origin() {
	gate hold origin write
	gate write w "$NC" 2 0 128
	gate held origin 1
	gate pass origin
	if [[ $MODE == writethrough ]]; then
		kept 1
	else
		given
	fi
	gate busy w
	gate let origin all
	ends w 'done'
	gate until nc fills_in_flight = 0
	agrees 0 128 2x128
}

# The data of a write is in flight to the slot, then a second write makes it stale: the slot stays.
at_cache() {
	local first=$((128 * 5))
	gate hold cache write "$data" $((1 << 20))
	puts 2 $first 128
	gate held cache 1
	gate pass cache
	kept 1
	puts 3 $first 128
	kept 1
	gate let cache all
	gate until nc fills_in_flight = 0
	given
	agrees $first 128 3x128
}

# A hit is held at the cache device when its block is invalidated: no other block may get the slot
# before the hit has completed.
hit() {
	local first=$((128 * 9))
	cached $first 128
	gate hold cache read "$data" $((1 << 20))
	gate read hit "$NC" $first 128
	gate held cache 1
	gate pass cache
	dmsetup message nc 0 invalidate $first 128
	kept
	gate let cache all
	ends hit 1x128
	given
}

gates 8 3
for mode in writearound writethrough; do
	between "$mode"
	data=$(($(./sbset "$C" get data_offset) / 512))
	full
	at_origin
	[[ $mode == writearound ]] || at_cache
	hit
	is state 0
	agrees 0 128 2x128
	gate agree nc origin 0 8192
	stop
	gate_live=''
done
