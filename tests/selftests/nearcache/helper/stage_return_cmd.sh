#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache attach below a mounted file system: the origin of the stage is disconnected and comes back as
# another device. Writes of the meantime stay, even those without a flush.
# kernels: 6.12
# cpus: 1
# timeout: 300
# when: soak
. ./staged.sh

unmount() {
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
}

make_null remote behind 24
make_null C local 24
make_null L log 32
make_null stranger stranger 24
mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
O=$(remote_up 0 "$remote") || fail "no remote volume"
at_exit remote_down
at_exit staged_gone
at_exit unmount
# One group, whose bitmaps stay in memory while the origin is away.
mkfs.ext4 -qF -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$remote" 2>/dev/null
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force --origin-timeout 600
mount /dev/mapper/nc "$TMPDIR/mnt"
head -c 2097152 /dev/urandom >"$TMPDIR/random"
cp "$TMPDIR/random" "$TMPDIR/mnt/before"
good stage drain nc --wait
bad 5 "is still connected" attach nc --origin "$stranger"
bad 5 "has this origin already" attach nc --origin "$O"
remote_disconnect
cp "$TMPDIR/random" "$TMPDIR/mnt/meanwhile"
sync
dd if="$TMPDIR/random" of="$TMPDIR/mnt/unflushed" bs=64K oflag=direct 2>/dev/null || fail "a direct write"
good stage status nc -j
expect origin_gone true
bad 4 "no device here is the origin" attach nc
bad 4 "'$stranger' is ''" attach nc --origin "$stranger"
O=$(remote_connect)
# A run was killed before it started the table that it had loaded.
dmsetup load nc-stage --table "0 $(sectors "$O") nearcache-stage $L $O"
good attach nc --dry-run -j
expect dry_run true origin "$O"
good attach nc -j
json_keys name stage log origin origin_before started dry_run
expect origin "$O" started false
good stage status nc -j
expect origin_gone false origin "$O" origin_timeout_s 600
echo 3 >/proc/sys/vm/drop_caches
for file in before meanwhile unflushed; do
	cmp "$TMPDIR/random" "$TMPDIR/mnt/$file" || fail "$file"
done
good set nc origin_timeout=0
[[ $(dmsetup table nc-stage) != *origin_timeout* ]] || fail "set: $(dmsetup table nc-stage)"
umount "$TMPDIR/mnt"
good close nc
e2fsck -fn "$remote" >"$TMPDIR/fsck" 2>&1 || fail "fsck: $(<"$TMPDIR/fsck")"
mount -o ro "$remote" "$TMPDIR/mnt"
cmp "$TMPDIR/random" "$TMPDIR/mnt/unflushed" || fail "the origin lacks a write"
umount "$TMPDIR/mnt"

# Another host changes the origin meanwhile.
good open nc --cache "$C"
remote_disconnect
./blockdata write /dev/mapper/nc -n 8 -g 3
good stage drain nc
./blockdata write "$remote" -n 8 -g 4
O=$(remote_connect)
bad 4 "was changed while it was disconnected" attach nc
good close nc --abandon-stage
