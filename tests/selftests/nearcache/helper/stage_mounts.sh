#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 'stage drain --wait' without a path writes what the file systems on the device hold in memory: of one
# that is mounted in another mount namespace, and of btrfs, whose device numbers are its own.  It fails
# if it cannot open a file system.
# kernels: 6.12
# cpus: 1
# when: soak
# timeout: 600
. ./staged.sh

gone() {
	exec 7>&-
	[[ ! $holder ]] || kill "$holder"
	umount -l "$TMPDIR/m" "$TMPDIR/cover" 2>/dev/null
	staged_gone
}

# keep TEXT FILE: write 2 MiB of lines of 16 bytes into the file, without a sync.
keep() {
	yes "$(printf '%-15s' "$1")" | head -c $((2 << 20)) >"$2" || fail "write to $2"
}

# on_origin TEXT: the origin has all lines.  Other data may stand in front of the first one.
on_origin() {
	same "lines '$1' on the origin" \
		"$(dd if="$O" bs=1M iflag=direct 2>/dev/null | tr -d '\0' | grep -cF "$(printf '%-15s' "$1")")" \
		$((2 << 16))
}

# elsewhere COMMAND: run it in a mount namespace of its own, which stays until the test ends.
elsewhere() {
	rm -f "$TMPDIR/ready"
	unshare --mount bash -c "$1 && touch '$TMPDIR/ready' && exec sleep 10000" &
	holder=$!
	wait_for 60 test -e "$TMPDIR/ready" || fail "no mount in another namespace"
}

holder=
make_null O origin 128
make_null C local 24
make_null L log 64
at_exit gone
mkdir "$TMPDIR/m"
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force
mkfs.ext4 -q /dev/mapper/nc || fail "mkfs.ext4"
export -f keep
elsewhere "mount /dev/mapper/nc '$TMPDIR/m' && keep 'in a namespace' '$TMPDIR/m/a'"
! grep -q " $TMPDIR/m " /proc/mounts || fail "the mount is visible here"
good stage drain nc --wait
on_origin 'in a namespace'
kill "$holder"
wait "$holder"
holder=

# In use, and at no place: the command does not claim that all is drained.
mount /dev/mapper/nc "$TMPDIR/m" || fail "mount"
exec 7>"$TMPDIR/m/b"
umount -l "$TMPDIR/m"
bad 5 "cannot open it" stage drain nc --wait
exec 7>&-
good stage drain nc --wait
# The close of the last user would write back.
exec 7</dev/mapper/nc
keep 'without one' /dev/mapper/nc
good stage drain nc --wait
on_origin 'without one'
exec 7<&-

type mkfs.btrfs >/dev/null 2>&1 && modprobe btrfs || exit 0
mkfs.btrfs -q -f /dev/mapper/nc || fail "mkfs.btrfs"
mount /dev/mapper/nc "$TMPDIR/m" || fail "mount of btrfs"
btrfs -q subvolume create "$TMPDIR/m/s" || fail "subvolume"
umount "$TMPDIR/m"
mount -o subvol=s /dev/mapper/nc "$TMPDIR/m" || fail "mount of a subvolume"
keep 'in a subvolume' "$TMPDIR/m/c"
good stage drain nc --wait
on_origin 'in a subvolume'
keep 'in a file' "$TMPDIR/m/d"
good stage drain nc "$TMPDIR/m/d" --wait
on_origin 'in a file'
bad 4 "is not on device 'nc'" stage drain nc "$TMPDIR/err"
