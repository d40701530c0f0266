#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The drain of write-zeroes keeps the space of the origin allocated: the writer may have asked for that.
# A discard frees it.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

blocks() {
	stat -c %b "$TMPDIR/mnt/file"
}

unmount() {
	! losetup "$O" >/dev/null 2>&1 || losetup -d "$O"
	umount "$TMPDIR/mnt" && rmdir "$TMPDIR/mnt"
}

make_null disk disk 64
# The stage offers write-zeroes if both devices do.
gate_start
gate device log 20 trim zeroes flush fua
L=$REPLY
modprobe loop || skip "no loop devices"
mkfs.ext4 -qF "$disk" 2>/dev/null
mkdir "$TMPDIR/mnt"
mount "$disk" "$TMPDIR/mnt"
dd if=/dev/zero of="$TMPDIR/mnt/file" bs=1M count=8 conv=fsync 2>/dev/null
O=$(losetup -f --show --direct-io=off "$TMPDIR/mnt/file")
at_exit unmount
./stage_format "$L" "$(sectors "$O")"
at_exit stage_stop
stage_start
before=$(blocks)
./blockdata write /dev/mapper/st -n 16384
stage_drained
# BLKZEROOUT asks to keep the space.
gate zeroes z /dev/mapper/st 2048 4096
ends z 'done'
stage_drained
same "blocks of the file after zeroes" "$(blocks)" "$before"
same "bytes that are not zero" "$(dd if="$TMPDIR/mnt/file" bs=1M skip=1 count=2 2>/dev/null | tr -d '\0' | wc -c)" 0
gate trim t /dev/mapper/st 8192 2048
ends t 'done'
stage_drained
(($(blocks) < before)) || fail "a discard frees nothing: $(blocks) of $before blocks"
stage_stop
