#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache device that takes the place of one that was given up, and whose medium says
# that it is warm: it is not believed if anybody was told, or wrote, what it does not know.
# kernels: 6.1
# cpus: 1
. ./given_up.sh

# warm_and_given_up: a read-only session, whose table is on the medium.
warm_and_given_up() {
	MODE=read-only generation=1
	./blockdata write "$O"
	format
	start
	right
	written_down
	given_up
}

# Told, not recorded; the next one that looks at the medium cannot record it either.
told_to_the_first() {
	warm_and_given_up
	./blockdata write "$O" -g 2
	generation=2
	! dmsetup message nc 0 invalidate all 2>/dev/null || fail "the medium still speaks of it"
	lies slice unwritable
	reload || fail "reload of what cannot be written"
	is state 1
	back 3
	right
	stop
}

# Another one had the place in between, and was told or wrote.
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

# It takes no part in what goes on while it is formatted for it.
format_other() {
	dd if="$empty" of="$other" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "copy"
}

# A cache of the same origin, left clean before the other one wrote.
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

# A copy of the very device, from before something was told.
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

# Another origin.
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

# The origin's disk dies, and somebody writes to the volume before it comes back as
# another device. The cache device fails when that is to be recorded, or has failed before.
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
