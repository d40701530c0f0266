#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In read-only mode the origin may be a read-only device, and the dm device refuses all writes.
# cpus: 1
. ./cache.sh

# dd_write DEV: write 4 KiB; false if the device refuses.
dd_write() {
	dd if=/dev/zero of="$1" bs=4096 count=1 oflag=direct conv=notrunc 2>/dev/null
}

make_null O origin 8
make_null C local 16
./blockdata write "$O"
writes=$(origin_write_ios "$O")
blockdev --setro "$O"
format
for option in --readonly ''; do
	# shellcheck disable=SC2086 # no option is no word
	make_dm path nc "$(line)" $option
	same "read-only" "$(blockdev --getro /dev/mapper/nc)" 1
	! dd_write /dev/mapper/nc || fail "written"
	# After a caller has cleared the read-only flag of the dm device, writes still fail.
	blockdev --setrw /dev/mapper/nc 2>/dev/null
	! dd_write /dev/mapper/nc || fail "written after --setrw"
	! blkdiscard /dev/mapper/nc 2>/dev/null || fail "discarded"
	! blkdiscard -z /dev/mapper/nc 2>/dev/null || fail "zeroed"
	# The message lets a program open the device for writing, and no more.
	# udev takes away the links of a dm device that becomes read-only, so it must not be told.
	uevents=$(</sys/kernel/uevent_seqnum)
	dmsetup message nc 0 write_opens allow
	same "read-only" "$(blockdev --getro /dev/mapper/nc)" 0
	! dd_write /dev/mapper/nc || fail "written after write_opens"
	! blkdiscard /dev/mapper/nc 2>/dev/null || fail "discarded after write_opens"
	! blkdiscard -z /dev/mapper/nc 2>/dev/null || fail "zeroed after write_opens"
	exec 5<>/dev/mapper/nc
	dmsetup message nc 0 write_opens refuse
	same uevents "$(</sys/kernel/uevent_seqnum)" "$uevents"
	same "read-only" "$(blockdev --getro /dev/mapper/nc)" 1
	! dd if=/dev/zero bs=4096 count=1 >&5 2>/dev/null || fail "written by an open file"
	exec 5>&-
	check
	settle
	stop
done
same "writes to the origin" "$(origin_write_ios "$O")" "$writes"
blockdev --setrw "$O"
./blockdata read "$O" || fail "the origin was changed"
# A read-only cache device is refused at the load, or bypassed at the start.
blockdev --setro "$C"
if dm_create nc "$(line)" >/dev/null 2>&1; then
	at_exit dm_gone nc
	is state 1
	check
	stop
fi
blockdev --setrw "$C"
start
for words in 'write_opens' 'write_opens yes' 'write_opens allow now'; do
	# shellcheck disable=SC2086 # several words
	! dmsetup message nc 0 $words 2>/dev/null || fail "accepted: $words"
done
is bytes_valid $((8 << 20))
