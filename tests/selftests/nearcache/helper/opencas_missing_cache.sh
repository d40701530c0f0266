#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What Open CAS does when its cache device is missing: boots end in the emergency mode.
# Here: whatever became of a local drive, open ends at once and says what to do, the origin
# is there for everybody, and what is open goes on without its cache.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

# no_open TEXT: it is refused, with this advice, and keeps nobody from the origin.
no_open() {
	timeout 20 nearcache open nc --cache "$C" --origin "$O" >/dev/null 2>&1
	same "exit code of open" $? 4
	bad 4 "$1" open nc --cache "$C" --origin "$O"
	[[ ! -e /dev/mapper/nc ]] || fail "open left a device behind"
	./blockdata exclusive "$O" || fail "the origin is in use"
	./blockdata read "$O" >/dev/null || fail "the origin is not whole"
}

# becomes TARGET: of the cache device.
becomes() {
	dmsetup load --noudevsync drive --table "0 $(sectors "$C") $1" &&
		dmsetup suspend --noudevsync --noflush drive && dmsetup resume --noudevsync drive ||
		fail "drive becomes $1"
}

make_null O origin 8
make_null base local 16
make_dm C drive "0 $(sectors "$base") linear $base 0"
./blockdata write "$O"
at_exit dm_gone nc
for mode in read-only writethrough; do
	good create nc --origin "$O" --cache "$C" --mode "$mode" --force
	check
	settle
	# It dies while it is open.
	becomes error
	check
	check -b 8 -r 200
	[[ $mode == read-only ]] || ./blockdata write /dev/mapper/nc
	check
	good close nc
	# It is there and cannot be read.
	no_open "cannot"
	becomes "linear $base 0"
done

# It came back empty, as local drives of a cloud do.
dd if=/dev/zero of="$C" bs=1M count=4 oflag=direct 2>/dev/null
no_open "make one with 'nearcache create'"

# It is not there.
dm_remove drive
no_open "use the origin itself"

# The advice is good.
good create nc --origin "$O" --cache "$base"
check
good close nc
good open nc --cache "$base" --origin "$O" -j
expect content warm
good close nc
