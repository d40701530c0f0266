#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A write overtakes a hit that is in flight to the cache device: the hit must complete, from the
# slot or from the origin, and must not make old data valid again.
. ./gate.sh

# A hit is held at the cache device, which reads the slot before (mute) or after (hold) the wait.
# Meanwhile its sub-blocks are written, invalidated and filled again into the same slot.
overtaken() {
	local how=$1 hits fills
	next_block
	cached "$at" 128
	now hits hits
	now fills fills
	gate "$how" cache read "$((data + 0))" $((1 << 20))
	gate read hit "$NC" "$at" 64
	gate held cache 1
	gate pass cache
	puts 2 "$at" 64
	gate until nc fills_in_flight = 0
	[[ $MODE == writethrough ]] || cached "$at" 64
	gets "$at" 64 2x64
	more fills "$fills" "$([[ $MODE == writethrough ]] && echo 0 || echo 1)"
	gate busy hit
	gate let cache all
	if [[ $how == mute ]]; then
		ends hit 1x64
	else
		ends hit 2x64
	fi
	more hits "$hits" 2
	agrees "$at" 128 '2x64 1x64'
}

# The cache device fails a hit, which then reads the origin, at each stage of a write.
failed() {
	local write=$1 errors
	next_block
	cached "$at" 128
	now errors hit_errors
	gate hold cache read
	gate read hit "$NC" "$at" 16
	gate held cache 1
	gate pass cache
	case $write in
	before | after)
		# The write is held at the origin, before or after the origin executed it.
		gate "$([[ $write == before ]] && echo hold || echo mute)" origin write
		gate write w "$NC" 2 "$at" 8
		gate held origin 1
		gate pass origin
		gate let cache all fail
		;;
	complete | refilled)
		puts 2 "$at" 8
		gate until nc fills_in_flight = 0
		[[ $write == complete ]] || cached "$at" 8
		gate let cache all fail
		;;
	updating)
		# The origin has the new data; the write of the update or fill is held at the slot.
		gate hold cache write
		puts 2 "$at" 8
		[[ $MODE == writethrough ]] || gate get "$NC" "$at" 8
		gate held cache 2
		gate pass cache
		gate let cache 0 fail
		;;
	esac
	if [[ $write == before ]]; then
		ends hit 1x16
	else
		ends hit '2x8 1x8'
	fi
	more hit_errors "$errors"
	gate let origin all
	gate let cache all
	case $write in before | after) ends w 'done' ;; esac
	agrees "$at" 128 '2x8 1x120'
}

gates
for mode in writearound writethrough; do
	between "$mode"
	data=$(($(./sbset "$C" get data_offset) / 512))
	for ((round = 0; round < $(times 1); round++)); do
		overtaken mute
		overtaken hold
		for write in before after complete refilled updating; do
			failed "$write"
		done
	done
	is state 0
done
