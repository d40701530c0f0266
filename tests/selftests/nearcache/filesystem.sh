#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Make a file system on the bare origin and mount it from the cache: buffered, direct and mapped
# reads of its files must return the same data as on the origin, cold, cached and after a restart.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# files: print checksums of all files, read in different ways.
files() {
	(cd "$TMPDIR/mnt" && find . -type f -print0 | sort -z | xargs -0 md5sum) &&
		for file in "$TMPDIR"/mnt/dir/*; do
			dd if="$file" bs=64K iflag=direct 2>/dev/null | md5sum
		done
}

# mounted DEV OPTIONS: print the checksums of the files with DEV mounted.
mounted() {
	mount -o "$2" "$1" "$TMPDIR/mnt" || fail "mount -o $2 $1"
	files
	umount "$TMPDIR/mnt"
}

# try KIND OPTIONS...: test this kind of file system, made with these options.
try() {
	local sums
	"mkfs.$1" -q "${@:3}" "$O" >/dev/null || fail "mkfs.$1"
	mount "$O" "$TMPDIR/mnt" || fail "mount $1"
	mkdir "$TMPDIR/mnt/dir"
	for i in {1..40}; do
		dd if=/dev/urandom of="$TMPDIR/mnt/small$i" bs="$((i * 777))" count=1 2>/dev/null
	done
	for i in 1 2 3; do
		dd if=/dev/urandom of="$TMPDIR/mnt/dir/large$i" bs=1M count=$((i * 2)) 2>/dev/null
	done
	sync
	umount "$TMPDIR/mnt"
	sums=$(mounted "$O" "$2") || fail "the bare origin"
	format
	start
	same "files, cold" "$(mounted /dev/mapper/nc "$2")" "$sums"
	settle
	drop_caches
	origin_mark
	same "files, cached" "$(mounted /dev/mapper/nc "$2")" "$sums"
	above hits 0
	stop
	start
	same "files, warm" "$(mounted /dev/mapper/nc "$2")" "$sums"
	same "origin bytes, $1" "$(origin_delta)" 0
	stop
}

mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
make_null O origin 320
make_null C local 96
try ext4 ro
if type mkfs.xfs >/dev/null 2>&1 && modprobe xfs; then
	try xfs ro,norecovery -f
else
	echo "no xfs here"
fi
