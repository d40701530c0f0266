#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache on several devices with a witness. After a power cut in a writing mode the cache must be
# warm except for the regions being written; if a member left before or is an older copy, cold.
# kernels: 6.12
# cpus: 1
. ./several.sh
MODE=writearound

# crash: copy all members and the witness to the devices of $crashed.
crash() {
	local i
	for i in 0 1 2 3; do
		copied "${all[i]}" "${crashed[i]}"
	done
}

# on DEV...: start the cache on the first three DEV as members, with the last as witness.
on() {
	# cache_timeout 0: any device is slow on a busy machine and would be bypassed.
	start nc "8 cache_timeout 0 member $2 member $3 witness $4" "$O" "$1"
}

# session: start a write session in which all is cached and committed, and no region marked.
session() {
	./blockdata write "$O"
	format_several
	./intent "$C" witness "$W" 0
	on "${all[@]}"
	check
	settle
	written_down
	is blocks_used 64
	is witness 1
	is intent_regions 0
}

lies() {
	local size tail=''
	size=$(sectors "$under")
	[[ $1 == error ]] || tail="$under 0"
	dmsetup suspend --noflush --nolockfs slice && dmsetup load slice --table "0 $size $1 $tail" &&
		dmsetup resume slice || fail "the slice becomes $1"
}

make_null O origin 4
several 4 4 4
under=${members[1]}
make_dm D slice "0 $(sectors "$under") linear $under 0"
members[1]=$D
make_null W witness 1
all=("${members[@]}" "$W")
for i in 0 1 2; do
	make_null device "crashed$i" 4
	crashed+=("$device")
done
make_null device crashed3 1
crashed+=("$device")
make_null older older 4

session
copied "$D" "$older"
./blockdata write /dev/mapper/nc -s 4096 -n 8 -g 2 || fail "write"
dmsetup message nc 0 invalidate 0 2048 || fail "invalidate"
check -n 2048
settle
dmsetup message nc 0 invalidate 8184 8 || fail "invalidate"
crash
stop
on "${crashed[@]}"
is loaded 5
above blocks_warm 24
above blocks_used 24
./blockdata read /dev/mapper/nc -s 4096 -n 8 -g 2 >/dev/null || fail "stale"
check -n 4096
origin_mark
check -n 2048
same "origin bytes of what was not written" "$(origin_delta)" 0
stop
# One member is a copy from before its slots got other blocks: cold.
copied "$older" "${crashed[1]}"
log_mark
on "${crashed[@]}"
is blocks_warm 0
log_since | grep -q 'was not in use with the others' || fail "the log does not say why"
check -n 4096
stop

# A member leaves, the origin is written, the power is cut, and the member is back: cold.
session
lies error
./blockdata write /dev/mapper/nc -s 4096 -n 2048 -g 2 || fail "write"
check -n 4096 -b 8
check -n 4096 -b 8
./blockdata write /dev/mapper/nc -s 0 -n 2048 -g 2 || fail "write"
is state 1
is witness 2
stop
lies linear
on "${all[@]}"
is loaded 3
is blocks_warm 0
./blockdata read /dev/mapper/nc -s 0 -n 2048 -g 2 >/dev/null || fail "stale"
./blockdata read /dev/mapper/nc -s 4096 -n 2048 -g 2 >/dev/null || fail "stale"
stop
