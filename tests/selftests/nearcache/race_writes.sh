#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes to the same sectors are in flight at the same time: whichever the origin executes last,
# cache and origin must agree afterwards.
. ./gate.sh

# written: does a single write leave its data in the cache? Only in writethrough mode.
written() {
	[[ $MODE == writethrough ]]
}

# two FIRST LAST RUNS first|last: hold two writes at the origin, each SECTOR+COUNT in the block. The
# last argument names the write that the origin executes last; RUNS: data afterwards.
two() {
	local first=$1 last=$2 result=$3 before hits updates
	for before in warm cold; do
		next_block
		[[ $before == cold ]] || cached "$at" 128
		now updates updates
		gate hold origin write
		gate write one "$NC" 2 $((at + ${first%+*})) "${first#*+}"
		gate held origin 1
		gate write two "$NC" 3 $((at + ${last%+*})) "${last#*+}"
		gate held origin 2
		gate pass origin
		# Both writes are held at the origin: a read gets the data from before.
		gets "$at" 32 1x32
		if [[ $4 == first ]]; then
			gate let origin last
			ends two 'done'
			gate busy one
			gate let origin all
			ends one 'done'
		else
			gate let origin 0
			ends one 'done'
			gate get "$NC" "$at" 32
			gate busy two
			gate let origin all
			ends two 'done'
		fi
		gate until nc fills_in_flight = 0
		# The overlap is not cached: a read goes to the origin.
		now hits hits
		gate get "$NC" $((at + 8)) 8
		more hits "$hits" 0
		agrees "$at" 128 "$result"
	done
}

# A third write, which overlaps the first two, begins and ends while these are in flight.
three() {
	next_block
	cached "$at" 128
	gate hold origin write "$at" 16
	gate write one "$NC" 2 "$at" 16
	gate held origin 1
	gate write two "$NC" 3 $((at + 12)) 20
	gate held origin 2
	gate pass origin
	puts 4 $((at + 10)) 12
	agrees_at_once '1x10 4x12 1x106'
	gate let origin last
	ends two 'done'
	puts 5 $((at + 14)) 1
	gate let origin all
	ends one 'done'
	gate until nc fills_in_flight = 0
	agrees "$at" 128 '2x16 3x16 1x96'
}

# agrees_at_once RUNS: fail unless cache and origin return RUNS, without waiting for fills.
agrees_at_once() {
	gets "$at" 128 "$1"
	gate look origin "$at" 128
	expect "$1"
}

# The first write has completed for its writer, and its data is in flight to the slot. A second
# write overtakes this update, and must not be cached itself where the two overlap.
updating() {
	local second=$1 result=$2 skipped updates bypassed
	next_block
	cached "$at" 128
	now skipped updates_skipped
	now updates updates
	now bypassed bypass_write
	gate hold cache write
	puts 2 "$at" 32
	gate held cache 1
	gate pass cache
	gets "$at" 8 2x8
	more bypass_write "$bypassed"
	puts 3 $((at + ${second%+*})) "${second#*+}"
	gets "$at" 128 "$result"
	gate until nc fills_in_flight = 1
	# Of the second write, only sub-blocks outside the first write are updated.
	more updates_skipped "$skipped" "$((!$3))"
	more updates "$updates" "$3"
	gate let cache all
	gate until nc fills_in_flight = 0
	agrees "$at" 128 "$result"
}

# The same, but the second write is still at the origin when the update of the first completes.
both() {
	next_block
	cached "$at" 128
	gate hold cache write
	puts 2 "$at" 32
	gate held cache 1
	gate pass cache
	gate mute origin write
	gate write two "$NC" 3 $((at + 12)) 8
	gate held origin 1
	gate pass origin
	gate let cache all
	gate until nc fills_in_flight = 0
	gets "$at" 32 '2x12 3x8 2x12'
	gate let origin all
	ends two 'done'
	agrees "$at" 128 '2x12 3x8 2x12 1x96'
}

# Writes to parts of one sub-block, one after the other, must all be cached.
one_by_one() {
	local hits
	next_block
	cached "$at" 128
	puts 2 $((at + 1)) 2
	gate until nc fills_in_flight = 0
	puts 3 $((at + 5)) 3
	gate until nc fills_in_flight = 0
	puts 4 $((at + 2)) 4
	gate until nc fills_in_flight = 0
	now hits hits
	gets "$at" 16 '1x1 2x1 4x4 3x2 1x8'
	! written || more hits "$hits"
	agrees "$at" 128 '1x1 2x1 4x4 3x2 1x120'
}

gates
for mode in writearound writethrough; do
	between "$mode"
	for ((round = 0; round < $(times 1); round++)); do
		# Both write the same sectors.
		two 8+8 8+8 '1x8 3x8 1x112' last
		two 8+8 8+8 '1x8 2x8 1x112' first
		# Both write disjoint sectors of one sub-block.
		two 8+3 12+4 '1x8 2x3 1x1 3x4 1x112' last
		two 8+3 12+4 '1x8 2x3 1x1 3x4 1x112' first
		# They overlap inside a sub-block.
		two 8+6 11+5 '1x8 2x3 3x5 1x112' last
		two 8+6 11+5 '1x8 2x6 3x2 1x112' first
		# One encloses the other.
		two 5+20 9+2 '1x5 2x4 3x2 2x14 1x103' last
		two 5+20 9+2 '1x5 2x20 1x103' first
		two 9+2 5+20 '1x5 3x20 1x103' last
		two 9+2 5+20 '1x5 3x4 2x2 3x14 1x103' first
		three
		if written; then
			updating 0+32 '3x32 1x96' 0
			updating 13+1 '2x13 3x1 2x18 1x96' 0
			updating 28+40 '2x28 3x40 1x60' 1
			both
		fi
		one_by_one
	done
	is state 0
done
