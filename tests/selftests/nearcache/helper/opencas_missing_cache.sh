#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With Open CAS, a missing cache device makes the boot end in emergency mode. Here, whatever happens
# to the local drive, open must end at once and give advice, the origin must stay usable, and an
# open device must continue without its cache.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

# no_open TEXT: fail unless open fails with this advice and the origin stays usable.
no_open() {
	timeout 20 nearcache open nc --cache "$C" --origin "$O" >/dev/null 2>&1
	same "exit code of open" $? 4
	bad 4 "$1" open nc --cache "$C" --origin "$O"
	[[ ! -e /dev/mapper/nc ]] || fail "open left a device behind"
	./blockdata exclusive "$O" || fail "the origin is in use"
	./blockdata read "$O" >/dev/null || fail "the origin is not whole"
}

# drive_becomes TARGET: replace the table of the cache device.
drive_becomes() {
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
	# The drive fails while nc is open.
	drive_becomes error
	check
	check -b 8 -r 200
	[[ $mode == read-only ]] || ./blockdata write /dev/mapper/nc
	check
	good close nc
	# The drive is present but cannot be read.
	no_open "cannot"
	drive_becomes "linear $base 0"
done

# The drive comes back empty, as local drives of cloud instances do.
dd if=/dev/zero of="$C" bs=1M count=4 oflag=direct 2>/dev/null
no_open "make one with 'nearcache create'"

# The drive is missing.
dm_remove drive
no_open "use the origin itself"

# The advice "nearcache create" must work.
good create nc --origin "$O" --cache "$base"
check
good close nc
good open nc --cache "$base" --origin "$O" -j
expect content warm
good close nc
