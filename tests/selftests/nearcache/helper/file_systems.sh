#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fingerprints of real file systems: read-only mounts and writes through the cache must not count as
# a change of the origin. Writes of another host must count, even if the ends stay the same.
# kernels: 6.12
# timeout: 400
# cpus: 1
. ./cache.sh
. ./command.sh
no_settings

unmount() {
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
}

# mounted DEV OPTIONS COMMAND...: run the command inside the mounted file system.
mounted() {
	mount -t "$fs" -o "$2" "$1" "$TMPDIR/mnt" || fail "cannot mount $fs on $1"
	(cd "$TMPDIR/mnt" && "${@:3}") || fail "${*:3}"
	umount "$TMPDIR/mnt" || fail "umount"
}

# files: read all files.
files() {
	find . -type f -exec cat {} + | sha256sum >"$TMPDIR/sum"
}

# change NAME: create a new file.
change() {
	dd if=/dev/urandom of="$1" bs=64K count=8 conv=fsync 2>/dev/null
}

# recorded TYPE: fail unless the superblock names this type of file system.
recorded() {
	good super "$C" -j
	expect file_system_type "$1"
}

reopen() {
	good open nc --cache "$C" --origin "$O" -j "$@"
	expect content warm changed null
}

# told TEXT: fail unless the next open reports the change with TEXT, and an open that drops the
# cached data records the new fingerprint.
told() {
	bad 4 "$1" open nc --cache "$C" --origin "$O"
	good open nc --cache "$C" --origin "$O" --on-change=drop -j
	expect content dropped changed content
	good close nc
	recorded "$fs"
	reopen
	good close nc
}

# poke OFFSET: another host writes 4 bytes to the origin.
poke() {
	printf 'poke' | dd of="$O" bs=1 seek="$1" conv=notrunc,fsync 2>/dev/null
}

# only_read: mount cache and origin read-only; the next open must report no change.
only_read() {
	good create nc --origin "$O" --cache "$C" --block-size 64K --force
	mounted /dev/mapper/nc ro files
	good close nc
	recorded "$fs"
	mounted "$O" "ro${1:-}" files
	reopen
	mounted /dev/mapper/nc ro files
	good close nc
}

# through: write through the cache, then close it by the command, or remove the dm device.
through() {
	reopen --mode writethrough
	mounted /dev/mapper/nc rw change through
	good close nc
	recorded "$fs"
	reopen
	mounted /dev/mapper/nc ro files
	good set nc mode=writearound
	mounted /dev/mapper/nc rw change around
	dm_remove nc || fail "remove"
	recorded none
	reopen
	good close nc
	recorded "$fs"
	# A session in a writing mode that writes nothing.
	reopen --mode writethrough
	mounted /dev/mapper/nc ro files
	good close nc
	recorded "$fs"
	reopen
	good close nc
}

past() {
	mounted "$O" rw change past
	told "was changed since"
}

mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
make_null C local 64
at_exit dm_gone nc
at_exit unmount

# --- ext4 with as many groups as a volume of 250 GiB, and scattered group descriptors ---

fs=ext4
make_null O ext4 512
mkfs.ext4 -qF -b 1024 -g 256 -E nodiscard "$O" 2>/dev/null || fail "mkfs.ext4"
mounted "$O" rw change first
only_read
through
past
poke $((102401 * 1024 + 64))
told "its file system was written to, although its first and last 64 KiB are unchanged"
# After "invalidate" by the user, the next open must report no change.
reopen
poke $((102401 * 1024 + 128))
good invalidate nc
cat /dev/mapper/nc >/dev/null
good close nc
recorded none
reopen
recorded "$fs"
good close nc
# No fingerprint shows a change where no metadata lies.
poke $((511 << 20))
reopen --compare-at-open 0
good close nc

# --- EROFS ---

fs=erofs
if type -P mkfs.erofs >/dev/null && modprobe erofs; then
	make_null O erofs 16
	mkdir "$TMPDIR/tree" && (cd "$TMPDIR/tree" && change a && change b)
	image() {
		rm -f "$TMPDIR/image"
		mkfs.erofs -T "$1" -U 6f1b1c6e-5a1f-4b55-8f34-3f1d2f1f7a11 "$TMPDIR/image" "$TMPDIR/tree" >/dev/null || fail "mkfs.erofs"
		dd if="$TMPDIR/image" of="$O" bs=64K conv=fsync 2>/dev/null
	}
	image 1700000000
	only_read
	image 1700000001
	told "was changed since"
fi

# --- XFS: on a remote volume that another host keeps mounted ---

fs=xfs
type -P mkfs.xfs >/dev/null || exit 0
make_null O xfs 320
mkfs.xfs -qfK "$O" || fail "mkfs.xfs"
mounted "$O" rw change first
# On a writable device, XFS writes its superblock even when mounted read-only.
only_read ,norecovery
through
past
# Change a header of the third of four allocation groups.
poke $((160 << 20 | 512 + 128))
told "its file system was written to"
mkfs.xfs -qfK "$O" || fail "mkfs.xfs"
behind=$O
O=$(remote_up 0 "$behind") || fail "no remote volume"
at_exit remote_down
at_exit unmount
mount -t xfs "$behind" "$TMPDIR/mnt"
good create nc --origin "$O" --cache "$C" --block-size 64K --force
good close nc
reopen
good close nc
change "$TMPDIR/mnt/new"
bad 4 "its file system was written to" open nc --cache "$C"
umount "$TMPDIR/mnt"
