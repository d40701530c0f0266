#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Above an origin that takes no discards, a stage ignores them, as a disk may: they succeed, also through a
# cache, reach neither log nor origin, and the content stays the same, also after the tail has moved.
# cpus: 1
. ./stage.sh

# trims DEVICE FIRST COUNT: discard these sectors; the log must not get an entry. Its descriptors count as
# entries, so commit first: the open epoch must not end meanwhile because of its age.
trims() {
	local entries
	stage_commit >/dev/null || fail "commit"
	entries=$(stage entries)
	blkdiscard -o $(($2 * 512)) -l $(($3 * 512)) "$1" || fail "blkdiscard of $1"
	same "entries after a discard of $1" "$(stage entries)" "$entries"
}

# shellcheck disable=SC2034 # for line
MODE=writearound mnt=$TMPDIR/mnt
fresh_stage 64 32 'rate 65536'
same "discards of the origin" "$(<"$(sys_block "$O")/queue/discard_max_bytes")" 0
./blockdata write "$O" -s 4096 -n 256 -g 1 >/dev/null || fail "write of the origin"
# Sectors whose newest version is in the log, and on the origin.
./blockdata write /dev/mapper/st -s 2048 -n 256 -g 2 >/dev/null || fail "write"
trims /dev/mapper/st 2048 128
trims /dev/mapper/st 4096 128
for ((turn = 0; turn < 3; turn++)); do
	./blockdata read /dev/mapper/st -s 2048 -n 256 -g 2 >/dev/null || fail "content of the log ($turn)"
	./blockdata read /dev/mapper/st -s 4096 -n 256 -g 1 >/dev/null || fail "content of the origin ($turn)"
	if ((turn == 0)); then
		# The drain, and then a start, which drops the retained data: the tail moves.
		dmsetup message st 0 set rate 0
		stage_drained
	elif ((turn == 1)); then
		stage_stop
		stage_start
		same retained_bytes "$(stage retained_bytes)" 0
	fi
done

make_null C local 24
format "$C" /dev/mapper/st
start nc '' /dev/mapper/st "$C"
trims /dev/mapper/nc 2048 128
./blockdata read /dev/mapper/nc -s 2048 -n 256 -g 2 >/dev/null || fail "content through a cache"
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=1 /dev/mapper/nc || fail "mkfs"
mkdir "$mnt"
at_exit rmdir "$mnt"
mount /dev/mapper/nc "$mnt" || fail "mount"
at_exit umount -q "$mnt"
head -c 1048576 /dev/urandom >"$mnt/kept"
sync
fstrim "$mnt" || fail "fstrim"
want=$(sha256sum <"$mnt/kept")
umount "$mnt" || fail "umount"
stage_drained
stop nc
stage_stop
mount -o ro "$O" "$mnt" || fail "mount of the origin"
same "a file on the origin" "$(sha256sum <"$mnt/kept")" "$want"
umount "$mnt" || fail "umount of the origin"
