#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# File systems inside GPT and MBR partitions: each change by another host while the cache is closed is
# noticed by their fingerprints (no sample is compared), and own writes and read-only mounts are not.
# kernels: 6.12
# timeout: 400
# cpus: 1
. ./cache.sh
. ./command.sh
no_settings

# First sector and sectors of each partition: for ext4, XFS (which needs 300 MiB), btrfs and nothing.
first=(2048 $((64 << 11)) $((384 << 11)) $((512 << 11)))
count=($((32 << 11)) $((310 << 11)) $((120 << 11)) 2048)

# part NUMBER DEV: (re)create dm device "part", a partition on DEV.
part() {
	dm_gone part
	dm_create part "0 ${count[$1]} linear $2 ${first[$1]}" >/dev/null || fail "no partition $1"
}

# partitions gpt|mbr COUNT: write a table.
partitions() {
	local i words=()
	for ((i = 0; i < $2; i++)); do
		words+=("${first[i]}" "${count[i]}")
	done
	./partition_table "$1" "$O" "${words[@]}" || fail "no $1"
}

# inside NUMBER DEV FS ro|rw COMMAND...: run the command in the file system of a partition.
inside() {
	local options=$4
	# On a writable device, XFS writes its superblock even when mounted read-only.
	[[ $3$4 != xfsro ]] || options=ro,norecovery
	part "$1" "$2"
	mount -t "$3" -o "$options" /dev/mapper/part "$TMPDIR/mnt" || fail "cannot mount $3"
	(cd "$TMPDIR/mnt" && "${@:5}") || fail "${*:5}"
	umount "$TMPDIR/mnt" || fail "umount"
	dm_gone part
}

files() {
	find . -type f -exec cat {} + | sha256sum >/dev/null
}

change() {
	dd if=/dev/urandom of="$1" bs=64K count=4 conv=fsync 2>/dev/null
}

unmount() {
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
}

reopen() {
	good open nc --cache "$C" --origin "$O" --compare-at-open 0 -j "$@"
	expect content warm changed null sampled 0
}

# told: the next open must report a change; then record the origin as it is.
told() {
	bad 4 "its file system was written to, although its first and last 64 KiB are unchanged" \
		open nc --cache "$C" --origin "$O" --compare-at-open 0
	good open nc --cache "$C" --origin "$O" --on-change=drop -j
	expect content dropped
	good close nc
	reopen
	good close nc
}

mkdir "$TMPDIR/mnt"
make_null C local 64
make_null O origin 520
at_exit dm_gone nc
at_exit dm_gone part
at_exit unmount
type -P mkfs.xfs mkfs.btrfs mkfs.erofs >/dev/null || skip "no xfsprogs, btrfs-progs or erofs-utils"
for table in gpt mbr; do
	kinds=(ext4 xfs btrfs)
	[[ $table == gpt ]] || kinds=(ext4)
	partitions "$table" 4
	for i in "${!kinds[@]}"; do
		part "$i" "$O"
		force=-f
		[[ ${kinds[i]} != ext4 ]] || force=-F
		mkfs."${kinds[i]}" -q $force /dev/mapper/part >/dev/null 2>&1 || fail "mkfs.${kinds[i]}"
		inside "$i" "$O" "${kinds[i]}" rw change first
	done
	good create nc --origin "$O" --cache "$C" --block-size 64K --force
	[[ $out == *"not noticed"*" in 1 of 4 partitions"* ]] || fail "create: $out"
	good super "$C" -j
	expect file_system_type volumes
	for i in "${!kinds[@]}"; do
		inside "$i" /dev/mapper/nc "${kinds[i]}" ro files
	done
	good close nc
	for i in "${!kinds[@]}"; do
		inside "$i" "$O" "${kinds[i]}" ro files
		reopen --mode writethrough
		inside "$i" /dev/mapper/nc "${kinds[i]}" rw change own
		good close nc
		reopen
		good close nc
		inside "$i" "$O" "${kinds[i]}" rw change "other$table"
		told
	done
done
# Rolled back to a snapshot that the cache does not know, and formatted anew.
part 0 "$O"
dd if=/dev/mapper/part of="$TMPDIR/snapshot" bs=1M 2>/dev/null || fail "no snapshot"
inside 0 "$O" ext4 rw change later
told
part 0 "$O"
dd if="$TMPDIR/snapshot" of=/dev/mapper/part bs=1M conv=fsync 2>/dev/null || fail "no way back"
dm_gone part
told
part 0 "$O"
mkfs.ext4 -qF /dev/mapper/part 2>/dev/null || fail "mkfs.ext4"
dm_gone part
told
# An EROFS image, and another one in its place.
for word in some other; do
	mkdir "$TMPDIR/tree.$word"
	echo "$word" >"$TMPDIR/tree.$word/file"
	rm -f "$TMPDIR/image"
	mkfs.erofs "$TMPDIR/image" "$TMPDIR/tree.$word" >/dev/null 2>&1 || fail "mkfs.erofs"
	part 0 "$O"
	dd if="$TMPDIR/image" of=/dev/mapper/part conv=fsync 2>/dev/null
	dm_gone part
	told
done
inside 0 "$O" erofs ro files
reopen
good close nc
# The table itself: a partition that was removed, and one that became shorter.
for words in 3 2; do
	count[0]=$((count[0] - 8))
	partitions mbr "$words"
	bad 4 "its first or last 64 KiB differ" open nc --cache "$C" --origin "$O"
	good open nc --cache "$C" --origin "$O" --on-change=drop
	good close nc
done
