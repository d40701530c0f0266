#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 'stage drain --wait' returns when a file, the files of a folder, or all that the mounted file system
# holds, is on the origin: a copy of the origin, taken then, has it.
# kernels: 6.12
# cpus: 1
# when: soak
. ./staged.sh

gone() {
	! grep -q " $TMPDIR/m " /proc/mounts || umount "$TMPDIR/m"
	! grep -q " $TMPDIR/copy " /proc/mounts || umount "$TMPDIR/copy"
	staged_gone
}

# on_origin FILE: the file on the origin is that of the cache.
on_origin() {
	dd if="$O" of="$X" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "copy of the origin"
	mount "$X" "$TMPDIR/copy" || fail "the origin is no valid image"
	cmp "$TMPDIR/m/$1" "$TMPDIR/copy/$1" || fail "$1 differs on the origin"
	umount "$TMPDIR/copy"
}

make_null O origin 48
make_null X copy 48
make_null C local 24
make_null L log 32
at_exit gone
mkdir "$TMPDIR/m" "$TMPDIR/copy"
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force
mkfs.ext4 -q /dev/mapper/nc || fail "mkfs"
mount /dev/mapper/nc "$TMPDIR/m" || fail "mount"
dd if=/dev/urandom of="$TMPDIR/m/a" bs=1M count=4 2>/dev/null
good stage drain nc "$TMPDIR/m/a" --wait
on_origin a
dd if=/dev/urandom of="$TMPDIR/m/b" bs=1M count=4 2>/dev/null
good stage drain nc --wait
on_origin b
mkdir "$TMPDIR/m/f"
dd if=/dev/urandom of="$TMPDIR/m/f/c" bs=1M count=4 2>/dev/null
good stage drain nc "$TMPDIR/m/f" --wait
on_origin f/c
bad 4 "is not on device 'nc'" stage drain nc "$TMPDIR/err"
bad 5 "mounted on" close nc
umount "$TMPDIR/m"
good close nc
