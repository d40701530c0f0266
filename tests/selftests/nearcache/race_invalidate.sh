#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Another host changes the origin, then a message reports the change: reads that begin after the
# message must get the new data, whatever was in flight.
. ./gate.sh

# invalidate FIRST COUNT | all: send the message; fail on an error.
invalidate() {
	dmsetup message nc 0 invalidate "$@" || fail "message invalidate $*"
}

fill() {
	local what=$1
	next_block
	gate mute origin read
	gate read old "$NC" "$at" 128
	gate held origin 1
	gate pass origin
	gate fill origin 5 $((at + 12)) 20
	# shellcheck disable=SC2086 # words
	invalidate ${what:-$((at + 12)) 20}
	gets $((at + 8)) 24 '1x4 5x20'
	gate let origin all
	ends old 1x128
	agrees "$at" 128 '1x12 5x20 1x96'
}

# The data of a fill is in flight to the slot.
filling() {
	next_block
	gate hold cache write
	gets "$at" 128 1x128
	gate held cache 1
	gate pass cache
	gate fill origin 5 "$at" 128
	invalidate "$at" 128
	gets "$at" 128 5x128
	gate let cache all
	agrees "$at" 128 5x128
}

hit() {
	local what=$1 dropped
	next_block
	cached "$at" 128
	now dropped invalidated_bytes
	gate mute cache read
	gate read old "$NC" "$at" 128
	gate held cache 1
	gate pass cache
	gate fill origin 5 "$at" 128
	# shellcheck disable=SC2086 # words
	invalidate ${what:-$at 128}
	[[ $what ]] || more invalidated_bytes "$dropped" 65536
	gets "$at" 128 5x128
	gate let cache all
	ends old 1x128
	agrees "$at" 128 5x128
}

# The data of an update is in flight to the slot and older than the change.
update() {
	next_block
	cached "$at" 128
	gate hold cache write
	puts 2 "$at" 128
	gate held cache 1
	gate pass cache
	gate fill origin 5 "$at" 128
	# shellcheck disable=SC2086 # words
	invalidate ${1:-$at 128}
	gets "$at" 128 5x128
	gate let cache all
	agrees "$at" 128 5x128
}

# The origin has more blocks than the cache slots, so 'all' scans slots and a range scans blocks.
gates 16 8
# Writearound mode is left out: for an invalidation it equals read-only mode.
for mode in read-only writethrough; do
	between "$mode"
	for ((round = 0; round < $(times 1); round++)); do
		fill
		fill all
		filling
		hit
		hit all
		if [[ $mode == writethrough ]]; then
			update all
			update
		fi
	done
	is state 0
	invalidate all
	is bytes_valid 0
done
