#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A reload replaces a bypassed cache device by one that is warm by its own metadata. The cache must
# nevertheless start empty if that device lacks the record of a reported change or of a write.
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

# A reported change was not recorded; the start of the next table cannot record it either.
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

# format_other: make $other an empty cache device by a copy, without touching the active session.
format_other() {
	dd if="$empty" of="$other" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "copy"
}

# The new cache device was stopped cleanly before the bypassed device saw writes, so it lacks them.
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

# The new cache device is a copy of the bypassed one from before a change was reported.
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

# The reload names another origin, whose data the cache device does not have.
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

# The origin disappears, another host writes to the volume, and it returns as another device. The
# cache device fails either when this change has to be recorded, or already before.
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
