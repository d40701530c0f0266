#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Discards and write-zeroes race with fills, hits and updates, which must treat them as writes. The
# device must refuse secure erase. The origin of this test zeroes discarded sectors.
# kernels: 6.12
. ./gate.sh

fill() {
	next_block
	gate mute origin read
	gate read old "$NC" "$at" 128
	gate held origin 1
	gate pass origin
	gate "$1" t "$NC" $((at + 4)) 60
	ends t 'done'
	gets "$at" 64 '1x4 0x60'
	gate let origin all
	ends old 1x128
	agrees "$at" 128 '1x4 0x60 1x64'
}

hit() {
	next_block
	cached "$at" 128
	gate mute cache read
	gate read old "$NC" "$at" 128
	gate held cache 1
	gate pass cache
	gate "$1" t "$NC" "$at" 128
	ends t 'done'
	gets "$at" 128 0x128
	gate let cache all
	ends old 1x128
	agrees "$at" 128 0x128
}

# The discard is held at the origin: meanwhile reads and writes must not cache its sectors.
in_flight() {
	local misses
	next_block
	cached "$at" 128
	gate hold origin "$1"
	gate "$1" t "$NC" $((at + 8)) 16
	gate held origin 1
	gate pass origin
	now misses misses
	gets "$at" 128 1x128
	more misses "$misses" 0
	puts 2 $((at + 20)) 8
	gets "$at" 128 '1x20 2x8 1x100'
	gate busy t
	gate let origin all
	ends t 'done'
	# The origin may execute the two overlapping requests in any order.
	agrees "$at" 128 '1x8 0x16 2x4 1x100'
}

update() {
	next_block
	cached "$at" 128
	gate hold cache write
	puts 2 "$at" 32
	gate held cache 1
	gate pass cache
	gate "$1" t "$NC" $((at + 12)) 8
	ends t 'done'
	gets "$at" 32 '2x12 0x8 2x12'
	gate let cache all
	agrees "$at" 128 '2x12 0x8 2x12 1x96'
}

# Discard the whole device, in pieces as large as the target allows; then the origin fails one.
large() {
	local bytes=discard_bytes count errors
	[[ $1 == trim ]] || bytes=zero_bytes
	now count $bytes
	gate "$1" t "$NC" 0 16384
	ends t 'done'
	more $bytes "$count" $((16384 * 512))
	is bytes_valid 0
	agrees 0 2048 0x2048
	puts 4 0 64
	gate until nc fills_in_flight = 0
	now errors write_errors
	gate fail origin "$1"
	gate "$1" t "$NC" 0 32
	gate end t
	[[ $REPLY == EIO || $REPLY == EREMOTEIO ]] || fail "a $1 that fails: $REPLY"
	gate pass origin
	more write_errors "$errors"
	agrees 0 128 '4x64 0x64'
}

gates 8 16 trim zeroes
kinds=trim
[[ $(<"/sys/block/${O#/dev/}/queue/write_zeroes_max_bytes") == 0 ]] || kinds='trim zeroes'
echo "the origin has $kinds"
for mode in writearound writethrough; do
	between "$mode"
	gate secure t "$NC" 0 8
	ends t EOPNOTSUPP
	for ((round = 0; round < $(times 1); round++)); do
		for kind in $kinds; do
			fill $kind
			hit $kind
			in_flight $kind
			[[ $mode == writearound ]] || update $kind
		done
	done
	for kind in $kinds; do
		large $kind
	done
	is state 0
done
# Read-only mode supports no discard, write-zeroes or secure erase.
between read-only
for what in trim zeroes secure; do
	gate $what t "$NC" 0 8
	gate end t
	[[ $REPLY == E* ]] || fail "$what in read-only mode: $REPLY"
done
agrees 0 128 1x128
