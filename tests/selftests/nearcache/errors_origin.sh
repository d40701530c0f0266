#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin has bad sectors: the reads that fail are those that fail on the bare origin, and no
# others. Other sectors of the same block are read right, and no wrong data is cached.
# cpus: 1
. ./cache.sh

# eio OPTIONS: print the number of failed reads; fail if another read returns wrong data.
eio() {
	local said
	said=$(./blockdata read "$@") || fail "wrong data: $said"
	[[ $said =~ eio\ ([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

fresh 2 8
# Single bad sectors: in the middle of a sub-block, at its start and its end, two in one block.
bad=(100 800 815 1285 1300 4095)
for sector in "${bad[@]}"; do
	echo "+$sector-$sector" >"$NULLB/origin/badblocks"
done
for options in '-b 128' '-b 1 -t 2' '-b 8' '-b 1:64 -a 1 -r 200'; do
	# shellcheck disable=SC2086 # options, one word each
	same "failed reads, $options" "$(eio /dev/mapper/nc -e $options)" "$(eio "$O" -e $options)"
done
settle
same "bad sectors" "$(eio /dev/mapper/nc -e -b 1)" ${#bad[@]}
above fills_failed_origin 0
is state 0
is fills_failed_cache 0
# All is cached except the six sub-blocks with bad sectors.
is bytes_valid $(((2 << 20) - 6 * 4096))
stop
start
is bytes_valid $(((2 << 20) - 6 * 4096))
# The origin works again, so the missing sub-blocks are filled.
for sector in "${bad[@]}"; do
	echo "-$sector-$sector" >"$NULLB/origin/badblocks"
done
check
settle
is bytes_valid $((2 << 20))
# Now everything is cached: a failing origin does no harm.
echo "+0-4095" >"$NULLB/origin/badblocks"
check
check -b 1 -B
