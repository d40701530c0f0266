#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Places of files on EROFS (holes, tails behind inodes), and on btrfs, which does not tell them.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

M=$TMPDIR/mnt
cd "$TMPDIR" && mkdir "$M" erofs || exit
make_null C local 64
at_exit dm_gone nc
at_exit eval "! grep -q ' $M ' /proc/mounts || umount $M"

# EROFS has holes only in chunks; mkfs.erofs 1.5 stores one chunk of zeros for all of them.
if type -P mkfs.erofs >/dev/null && modprobe erofs; then
	(cd erofs && truncate -s 64k hole && echo tiny >tiny) || fail populate
	mkfs.erofs --chunksize=4096 image erofs >log 2>&1 || fail "mkfs.erofs: $(<log)"
	make_null O erofs 16
	dd if=image of="$O" bs=64K conv=fsync 2>/dev/null
	good create nc --origin "$O" --cache "$C" --block-size 64K --force
	mount -t erofs -o ro /dev/mapper/nc "$M" || fail "mount erofs"
	good residency nc "$M/hole" -j
	[[ "$(json bytes) $(json empty_bytes)" == @("4096 0"|"0 65536") && $(json unlocated_bytes) == 0 ]] ||
		fail "a hole: $out"
	good residency nc "$M/tiny" -j
	expect bytes 512 empty_bytes 0 unlocated_bytes 0
	umount "$M"
	good close nc
fi

if type -P mkfs.btrfs >/dev/null && modprobe btrfs 2>/dev/null; then
	make_null O btrfs 128
	mkfs.btrfs -qf "$O" || fail "mkfs.btrfs"
	good create nc --origin "$O" --cache "$C" --block-size 64K --force --mode writethrough
	mount -t btrfs /dev/mapper/nc "$M" || fail "mount btrfs"
	echo tiny >"$M/tiny"
	bad 4 "'$M/tiny': its file system has no block device of its own (btrfs" prefetch nc "$M"
	umount "$M"
	good close nc
fi
