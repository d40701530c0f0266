#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes overtake the check of a hit's data: the check must not report damage. Writes also overtake
# the repair of real damage. The gate holds the requests so that each race happens.
# kernels: 6.12
. ./gate.sh
# shellcheck disable=SC2034 # for format
INTEGRITY=crc32c

# next: set $at to the next block, which gets the slot number $slot.
next() {
	next_block
	now slot blocks_used
	cached "$at" 128
	now damaged damaged
	now hits hits
}

# spoil FIRST COUNT: overwrite the copies of these sectors of the block in its slot.
spoil() {
	gate fill cache 77 $((data + slot * 128 + $1)) "$2"
}

calm() {
	gate until nc fills_in_flight = 0
}

# A hit is held at the cache device, which reads the slot before (mute) or after (hold) the wait,
# into the pages of the reader or of the module. Meanwhile its sub-blocks are written.
overtaken() {
	local how=$1 first=$2 count=$3
	next
	gate "$how" cache read
	gate read hit "$NC" $((at + first)) "$count"
	gate held cache 1
	gate pass cache
	puts 2 "$at" 64
	[[ $MODE == writethrough ]] || gate get "$NC" "$at" 64
	# A check that reads into the module's own pages counts as a fill in flight.
	gate until nc fills_in_flight = $((count < 64))
	gate busy hit
	gate let cache all
	ends hit "2x$count"
	calm
	more hits "$hits"
	more damaged "$damaged" 0
	agrees "$at" 128 '2x64 1x64'
}

# The comparison of a hit with the origin (verify) is held at the origin, before or after the origin
# read. The reader must not wait for the comparison.
compared() {
	local how=$1 verified
	next
	now verified verified
	gate "$how" origin read
	gate read hit "$NC" "$at" 64
	ends hit 1x64
	gate held origin 1
	gate pass origin
	puts 2 "$at" 8
	gate let origin all
	calm
	more verified "$verified"
	more damaged "$damaged" 0
	agrees "$at" 128 '2x8 1x120'
}

# Another host changed the origin: the first reader gets the cached data, the next the new data.
undetected() {
	next
	gate fill origin 5 $((at + 8)) 16
	gets "$at" 64 1x64
	calm
	more damaged "$damaged" 2
	gets "$at" 64 '1x8 5x16 1x40'
	calm
	more damaged "$damaged" 2
}

# The origin fails the read of a comparison: this must have no effect.
silent() {
	next
	gate hold origin read
	gate read hit "$NC" "$at" 64
	ends hit 1x64
	gate held origin 1
	gate pass origin
	gate let origin all fail
	calm
	more damaged "$damaged" 0
	gets "$at" 64 1x64
	calm
}

# A suspend must wait for a comparison in flight.
suspended() {
	next
	gate hold origin read
	gate read hit "$NC" "$at" 64
	ends hit 1x64
	gate held origin 1
	dmsetup suspend nc &
	wait_for 30 suspending || fail "no suspend"
	gate pass origin
	gate let origin all
	wait $! || fail "suspend"
	dmsetup resume nc
	more damaged "$damaged" 0
}

# suspending: is the suspend running or done?
suspending() {
	[[ $(dmsetup info -c --noheadings -o suspended nc) == Suspended ]] || jobs -r | grep -q suspend
}

# A hit finds damage: its reads of the origin, for reader and repair, are held during a write.
repaired() {
	local count=$1
	next
	spoil 0 64
	gate hold origin read
	gate read hit "$NC" "$at" "$count"
	gate held origin 2
	puts 2 "$at" 8
	gate pass origin
	gate let origin all
	ends hit "$([[ $count == 64 ]] && echo '2x8 1x56' || echo "2x$count")"
	calm
	more damaged "$damaged" "$([[ $count == 64 ]] && echo 8 || echo 1)"
	gets "$at" 128 '2x8 1x120'
	calm
	agrees "$at" 128 '2x8 1x120'
}

# A hit finds damage, and the cache device fails the second read of the slot.
failed() {
	local errors
	next
	now errors hit_errors
	spoil 8 8
	gate hold cache read
	gate read hit "$NC" "$at" 64
	gate held cache 1
	gate let cache 0
	gate held cache 1
	gate pass cache
	gate let cache all fail
	ends hit 1x64
	calm
	more hit_errors "$errors"
	more damaged "$damaged" 0
	agrees "$at" 128 1x128
}

gates
for mode in writearound writethrough; do
	before=${at:-0}
	between "$mode"
	# Start with blocks that have no slot yet.
	at=$before
	data=$(($(./sbset "$C" get data_offset) / 512))
	# The check reads into the reader's pages, into the module's, and with the help of a worker.
	for part in "0 64" "1 3" "3 40"; do
		# shellcheck disable=SC2086 # words
		overtaken hold $part
		# shellcheck disable=SC2086 # words
		overtaken mute $part
	done
	repaired 64
	repaired 3
	failed
	OPTIONS='4 cache_timeout 0 verify 1' reload || fail "reload"
	compared hold
	compared mute
	undetected
	silent
	suspended
done
