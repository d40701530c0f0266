#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A write overtakes fills and reads: data that the origin held before the write must not be
# published, and no read that begins after the write may return this data.
# kernels: 6.1
. ./gate.sh

# The origin has read the old data for a fill, but not answered yet. A writer must not wait for the
# fill. A read that began after the write must not get the old data; a read that joined before may.
reading() {
	local how=$1 stale joins bypassed valid
	next_block
	now stale fills_stale
	now joins joins
	now bypassed bypass_write
	now valid bytes_valid
	gate "$how" origin read
	gate read old "$NC" "$at" 128
	gate held origin 1
	gate read joined "$NC" $((at + 24)) 32
	gate until nc joins '>' "$joins"
	gate pass origin
	# The write covers a part of one sub-block and all of the next.
	puts 2 $((at + 27)) 13
	gets $((at + 24)) 16 '1x3 2x13'
	more bypass_write "$bypassed"
	# The fill still serves reads of sectors that were not written.
	gate read beside "$NC" $((at + 40)) 8
	gate until nc joins '>' $((joins + 1))
	gate busy old
	gate busy joined
	gate let origin all
	ends beside 1x8
	if [[ $how == mute ]]; then
		ends old 1x128
		ends joined 1x32
	else
		ends old '1x27 2x13 1x88'
		ends joined '1x3 2x13 1x16'
	fi
	gate until nc fills_in_flight = 0
	more fills_stale "$stale"
	more bytes_valid "$valid" $((14 * 4096))
	agrees "$at" 128 '1x27 2x13 1x88'
}

# A fill has answered its readers, and its data is in flight to the slot: a write makes it stale.
writing() {
	local stale valid bypassed
	next_block
	now stale fills_stale
	now valid bytes_valid
	now bypassed bypass_write
	gate "$1" cache write
	gets "$at" 128 1x128
	gate held cache 1
	puts 2 "$at" 9
	puts 3 $((at + 120)) 8
	gets "$at" 128 '2x9 1x111 3x8'
	gate until nc bypass_write '>' "$bypassed"
	gate until nc fills_in_flight = 1
	gate pass cache
	gate let cache all
	gate until nc fills_in_flight = 0
	more fills_stale "$stale"
	more bytes_valid "$valid" $((13 * 4096))
	agrees "$at" 128 '2x9 1x111 3x8'
}

# A write covers all of a fill: the module must not even write the fill to the slot.
whole() {
	local filled stale
	next_block
	now filled fill_cache_bytes
	now stale fills_stale
	gate mute origin read
	gate read old "$NC" "$at" 64
	gate held origin 1
	gate pass origin
	puts 2 "$at" 64
	gate let origin all
	ends old 1x64
	gate until nc fills_in_flight = 0
	more fill_cache_bytes "$filled" 0
	more fills_stale "$stale"
	agrees "$at" 64 2x64
}

# A write is held at the origin, before or after the origin executed it. Meanwhile reads of its
# sectors must go to the origin and fill nothing, even where the block is cached.
in_flight() {
	local how=$1 before=$2 what all hits bypassed misses valid
	next_block
	[[ $before == cold ]] || cached "$at" 128
	now hits hits
	now bypassed bypass_write
	now misses misses
	now valid bytes_valid
	gate "$how" origin write
	gate write w "$NC" 2 $((at + 28)) 8
	gate held origin 1
	gate pass origin
	what='1x4 2x8 1x4' all='1x28 2x8 1x92'
	[[ $how == mute ]] || what=1x16 all=1x128
	gets $((at + 24)) 16 "$what"
	gets $((at + 24)) 16 "$what"
	more bypass_write "$bypassed" 2
	gate until nc fills_in_flight = "$([[ $MODE == writethrough && $before == warm ]] && echo 1 || echo 0)"
	more hits "$hits" 0
	more misses "$misses" 0
	# Reads that also cover sectors around the write do not wait for the write.
	gets "$at" 128 "$all"
	gate busy w
	gate let origin all
	ends w 'done'
	gate until nc fills_in_flight = 0
	if [[ $MODE == writethrough && $before == warm ]]; then
		more bytes_valid "$valid" 0
	elif [[ $before == warm ]]; then
		more bytes_valid "$valid" -8192
	else
		gate until nc bytes_valid '<' $((valid + 14 * 4096 + 1))
	fi
	agrees "$at" 128 '1x28 2x8 1x92'
}

gates
for mode in writearound writethrough; do
	between "$mode"
	for ((round = 0; round < $(times 1); round++)); do
		reading mute
		reading hold
		writing hold
		writing mute
		whole
		for before in cold warm; do
			in_flight hold "$before"
			in_flight mute "$before"
		done
	done
done
