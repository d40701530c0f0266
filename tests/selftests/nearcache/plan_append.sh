#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A plan that continues the plan in force begins with the visits that are left, and counts the reads
# that come during its hand-over.
# kernels: 6.12
# when: soak
BLOCK=65536
. ./planned.sh

# append START...: let the plan in force continue with these blocks.
append() {
	ask plan-submit name=nc "${@/#/range=length=$BLOCK,start=}" plan=commit=1,append=1,no-prefetch=1
}

# all_made VISITS: fail unless the plan ends after VISITS visits, and no visit was skipped, no read astray.
all_made() {
	wait_for 30 state_is 2 || fail "the plan did not end: $out"
	says visits "$1"
	says position "$1"
	says skipped 0
	says astray 0
	same "hits and misses" $(($(value hits) + $(value misses))) "$1"
}

fresh 16 9
alone=1
mapfile -t epoch < <(seq 0 $BLOCK $((39 * BLOCK)) | shuf)

# Readers are in the middle of the first epoch, and in the middle of a block.
plan_of "${epoch[@]}"
visit "${epoch[@]:0:20}"
./blockdata read $NC -s $((epoch[20] / 512)) -n 64 >/dev/null || fail "wrong data"
append "${epoch[@]}"
says visits 80
says position 21
says ranges 80
says misses 21
./blockdata read $NC -s $((epoch[20] / 512 + 64)) -n 64 >/dev/null || fail "wrong data"
visit "${epoch[@]:21}" "${epoch[@]}"
wait_for 30 state_is 2 || fail "the plan did not end: $out"
says position 80
says skipped 0
says astray 0
(($(value hits) >= 38)) || fail "$(value hits) hits: $out"

# Readers go on while plans are appended, each before the last one ends.
plan_of "${epoch[@]}" "${epoch[@]}" "${epoch[@]}"
visit "${epoch[@]}" "${epoch[@]}" "${epoch[@]}" "${epoch[@]}" "${epoch[@]}" "${epoch[@]}" &
for _ in 1 2 3; do
	append "${epoch[@]}"
done
wait $! || fail "a reader failed"
all_made 240

# Both plans together are too long: the one in force stays.
plan_of "${epoch[@]}"
refused E2BIG 'Limit of 4194304 visits' plan-submit name=nc \
	"range=16383@0,length=$((16 * MB)),start=0" "range=240@0,length=$BLOCK,start=0" plan=commit=1,append=1
get
says visits 40
visit "${epoch[@]}"
all_made 40
stop
