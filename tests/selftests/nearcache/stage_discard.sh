#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Discarded and zeroed sectors read as zeros at once, after a start, and on the origin after the drain.
# Of writes, discards and zeroes of one sector, in one epoch or in several, the last one wins.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# clear trim|zeroes FIRST COUNT
clear() {
	gate "$1" c "$NC" "$2" "$3"
	ends c 'done'
}

gated_stage 8 20
origin_fails
puts 2 0 64
clear zeroes 8 8
clear trim 24 8
gets 0 64 '2x8 0x8 2x8 0x8 2x32'
puts 3 12 2
puts 3 28 2
gets 0 64 '2x8 0x4 3x2 0x2 2x8 0x4 3x2 0x2 2x32'
stage_commit >/dev/null
puts 4 40 8
clear zeroes 42 2
stage_commit >/dev/null
clear trim 44 2
clear zeroes 0 4
want='0x4 2x4 0x4 3x2 0x2 2x8 0x4 3x2 0x2 2x8 4x2 0x4 4x2 2x16'
gets 0 64 "$want"

# A discard of much takes one entry, and nothing of it reaches the log as data.
entries=$(stage entries) behind=$(stage behind_bytes)
clear trim 2048 8192
clear zeroes 12288 4096
puts 5 4096 8
(($(stage entries) < entries + 6)) || fail "$(stage entries) entries after $entries"
(($(stage behind_bytes) <= behind + 5 * 4096)) || fail "$(stage behind_bytes) after $behind"
for turn in log start; do
	gets 0 64 "$want"
	gets 2040 16 '1x8 0x8'
	gets 4088 24 '0x8 5x8 0x8'
	gets 10232 16 '0x8 1x8'
	gets 12280 16 '1x8 0x8'
	[[ $turn == start ]] || stage_restart
done
gate pass origin
stage_drained
gate look origin 0 64
expect "$want"
gate look origin 2040 10240
expect '1x8 0x2048 5x8 0x6136 1x2040'
gate look origin 12280 4104
expect '1x8 0x4096'
gets 0 64 "$want"
same state "$(stage state)" 0
