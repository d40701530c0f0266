#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache device replaces one that was bypassed, and its own metadata says that it is warm. The
# cache must start empty if a reported change or a write is not recorded on that device.
# kernels: 6.1
# cpus: 1
. ./given_up.sh

# warm_and_given_up: a read-only session whose slot table is committed, then bypassed.
warm_and_given_up() {
	MODE=read-only generation=1
	./blockdata write "$O"
	format
	start
	right
	written_down
	given_up
}

# A change was reported but not recorded; the next table cannot record it on the medium either.
told_to_the_first() {
	warm_and_given_up
	./blockdata write "$O" -g 2
	generation=2
	! dmsetup message nc 0 invalidate all 2>/dev/null ||
		fail "invalidate succeeded although the cache device still holds the old data"
	lies slice unwritable
	reload || fail "reload with a device that cannot be written"
	is state 1
	back 3
	right
	stop
}

# Another cache device was active in between; a change was reported or written during that time.
another_in_between() {
	warm_and_given_up
	format_other
	C=$other MODE=$1
	reload || fail "another cache device"
	is loaded 1
	right
	if [[ $MODE == read-only ]]; then
		./blockdata write "$O" -g 2
		dmsetup message nc 0 invalidate all || fail "invalidate"
	else
		./blockdata write /dev/mapper/nc -g 2
	fi
	generation=2
	right
	MODE=read-only reload || fail "read-only"
	C=/dev/mapper/slice MODE=read-only
	back 3
	right
	stop
}

# format_other: copy an empty, formatted image, so that the active session is not involved.
format_other() {
	dd if="$empty" of="$other" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "copy"
}

# A cache device of the same origin was stopped cleanly before the other one saw writes.
left_long_ago() {
	MODE=writethrough generation=1
	./blockdata write "$O"
	C=$other
	format_other
	start
	right
	stop
	C=/dev/mapper/slice
	format
	start
	./blockdata write /dev/mapper/nc -g 2
	generation=2
	right
	given_up
	C=$other
	reload || fail "another cache device"
	is loaded 3
	right
	stop
	C=/dev/mapper/slice
	lies slice linear
}

# A copy of the same cache device, taken before a change was reported.
copied() {
	MODE=read-only generation=1
	./blockdata write "$O"
	format
	start
	right
	written_down
	dmsetup suspend --noudevsync nc
	dd if="$local" of="$other" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "copy"
	dmsetup resume --noudevsync nc
	./blockdata write "$O" -g 2
	dmsetup message nc 0 invalidate 0 "$(sectors "$O")" || fail "invalidate"
	generation=2
	right
	given_up
	C=$other
	reload || fail "the copy"
	is loaded 3
	right
	stop
	C=/dev/mapper/slice
	lies slice linear
}

# The table names another origin.
elsewhere() {
	local O1=$O
	warm_and_given_up
	O=$O2
	generation=7
	back 3
	right
	stop
	O=$O1
}

# The origin's device disappears, and somebody writes to the volume before it returns as another
# device. The cache device either fails when this has to be recorded, or has failed before.
reconnected() {
	make_null dying "dying$1" 2
	local stays=$O
	O=$dying
	warm_and_given_up
	if [[ $1 == unwritable ]]; then
		back 5
		right
		written_down
		lies slice unwritable
	fi
	echo 0 >"$NULLB/dying$1/power"
	./blockdata write "$stays" -g 2
	generation=2
	O=$stays
	reload || fail "reload of the origin's new device"
	is state 1
	right
	back 3
	right
	stop
}

make_null O origin 2
make_null O2 elsewhere 2
make_null local local 8
make_null other other 8
make_null empty empty 8
./blockdata write "$O"
./blockdata write "$O2" -g 7
format "$empty"
make_dm C slice "$(under linear "$local")"
told_to_the_first
another_in_between read-only
another_in_between writethrough
left_long_ago
copied
elsewhere
reconnected failed
reconnected unwritable
