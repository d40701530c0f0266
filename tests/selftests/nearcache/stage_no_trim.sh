#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A stage accepts discards above an origin without discards, also from a cache above it: fstrim reaches
# the log.
# cpus: 1
. ./stage.sh

# space FILE BYTES: write a file, and free its space.
space() {
	dd if=/dev/urandom of="$1" bs=64k count=$(($2 >> 16)) conv=fsync 2>/dev/null || fail "write"
	rm "$1"
	sync
}

# shellcheck disable=SC2034 # for line
MODE=writearound mnt=$TMPDIR/mnt
fresh_stage 64 32 'rate 262144'
same "discards of the origin" "$(<"$(sys_block "$O")/queue/discard_max_bytes")" 0
make_null C local 24
format "$C" /dev/mapper/st
start nc '' /dev/mapper/st "$C"
# mkfs.ext4 discards the whole device, too.
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=1 /dev/mapper/nc || fail "mkfs"
mkdir "$mnt"
at_exit rmdir "$mnt"
mount /dev/mapper/nc "$mnt" || fail "mount"
at_exit umount -q "$mnt"
head -c 1M /dev/urandom >"$mnt/kept"
space "$mnt/freed" $((2 << 20))
before=$(stage entries) behind=$(stage behind_bytes)
fstrim "$mnt" || fail "fstrim"
(($(stage entries) > before)) || fail "no discard reached the log: $(dmsetup status --noflush st)"
(($(stage behind_bytes) < behind + (1 << 20))) || fail "$(stage behind_bytes) bytes behind, before $behind"
want=$(sha256sum <"$mnt/kept")
umount "$mnt" || fail "umount"
dd if=/dev/urandom of=/dev/mapper/nc bs=64k count=1 seek=992 oflag=direct 2>/dev/null || fail "write"
blkdiscard -o $((62 << 20)) -l 65536 /dev/mapper/nc || fail "blkdiscard"
dd if=/dev/mapper/nc bs=64k count=1 skip=992 iflag=direct 2>/dev/null | cmp -s -n 65536 - /dev/zero ||
	fail "discarded sectors in the log do not read as zeros"
dmsetup message st 0 set rate 0
stage_drained
stop nc
stage_stop
mount -o ro "$O" "$mnt" || fail "mount of the origin"
same "a file on the origin" "$(sha256sum <"$mnt/kept")" "$want"
umount "$mnt" || fail "umount of the origin"
