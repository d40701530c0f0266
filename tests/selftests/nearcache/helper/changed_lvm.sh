#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# File systems in LVM logical volumes: the fingerprints (no sample is compared) show changes in
# a volume of two segments, in a striped one, and of the layout.
# kernels: 6.12
# timeout: 400
# cpus: 1
. ./cache.sh
. ./command.sh
no_settings
. ./volume_group.sh

lvm_ready

unmount() {
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
	vg_gone one wide raw
}

# other_host: make the partition on $base (or DEV) visible, with the volumes of which tables are saved.
other_host() {
	local name
	dm_create other "0 $((199 * 2048)) linear ${1:-$base} 2048" >/dev/null || fail "no partition"
	for name in one wide; do
		[[ ! -e $TMPDIR/$name ]] || dmsetup create --noudevsync group-$name <"$TMPDIR/$name" || fail "no volume"
	done
}

gone() {
	dm_gone group-one
	dm_gone group-wide
	dm_gone other
}

# change NAME FILE: write a file in the file system of a volume.
change() {
	mount -t ext4 "/dev/mapper/group-$1" "$TMPDIR/mnt" || fail "mount"
	dd if=/dev/urandom of="$TMPDIR/mnt/$2" bs=64K count=4 conv=fsync 2>/dev/null
	umount "$TMPDIR/mnt"
}

reopen() {
	good open nc --cache "$C" --origin "$O" --compare-at-open 0 -j
	expect content warm changed null
}

# told: the next open must report a change; then record the origin as it is.
told() {
	bad 4 "its file system was written to, although its first and last 64 KiB are unchanged" \
		open nc --cache "$C" --origin "$O" --compare-at-open 0
	good open nc --cache "$C" --origin "$O" --on-change=drop
	good close nc
	reopen
	good close nc
}

mkdir "$TMPDIR/mnt"
make_null base base 200
make_null C local 64
at_exit unmount
at_exit dm_gone nc
at_exit dm_gone other
# The physical volume is in a partition, which begins behind the first 64 KiB. LVM is slow under
# emulation: it makes the volumes, and later their dm tables are loaded without it.
./partition_table mbr "$base" 2048 $((199 * 2048)) || fail "no table"
O=$base see=/dev/mapper/other
other_host
vg_create "$see" one=20m
# Two stripes on the same physical volume: "anywhere" allows it.
vg "$see" lvcreate -y -Wn -Zn -L 40m -i 2 -I 4k --alloc anywhere -n wide group
vg "$see" lvcreate -an -y -Wn -Zn -L 8m -n raw group
vg "$see" lvextend -L 60m group/one
for name in one wide; do
	mkfs.ext4 -qF -E nodiscard "/dev/mapper/group-$name" 2>/dev/null || fail "mkfs.ext4"
	change $name first
	dmsetup table group-$name | sed 's/[0-9]*:[0-9]* /\/dev\/mapper\/other /g' >"$TMPDIR/$name"
done
same "segments of one" "$(wc -l <"$TMPDIR/one")" 2
grep -q ' striped 2 8 ' "$TMPDIR/wide" || fail "not striped: $(<"$TMPDIR/wide")"
gone
good create nc --origin "$O" --cache "$C" --block-size 64K --force
[[ $out == *"not noticed"*" in 1 of 4 partitions and logical volumes"* ]] || fail "create: $out"
good super "$C" -j
expect file_system_type volumes
good close nc
reopen
good close nc
for name in one wide; do
	other_host
	change $name new
	gone
	told
done
# The layout: another volume.
other_host
vg "$see" lvcreate -an -y -Wn -Zn -L 4m -n new group
gone
told
# Writes through the cache are no change.
good open nc --cache "$C" --origin "$O" --mode writethrough
other_host /dev/mapper/nc
change wide own
gone
good close nc
reopen
good close nc
