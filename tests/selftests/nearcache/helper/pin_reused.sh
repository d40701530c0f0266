#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pin --refresh after the inode of a deleted file went to another file. Files that mkfs.ext4 -d made
# have generation 0, and the kernel opens any file of that inode for their handles.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

M=$TMPDIR/mnt

cleanup() {
	umount "$M" 2>/dev/null || true
	rm -f /var/lib/nearcache/pins/nc.json
}

mkdir "$M" "$TMPDIR/tree"
for i in a b; do head -c 256k /dev/urandom >"$TMPDIR/tree/$i"; done
make_null O origin 64
make_null C local 32
at_exit dm_gone nc
at_exit cleanup
mkfs.ext4 -qF -b 4096 -d "$TMPDIR/tree" "$O" 2>/dev/null || fail "mkfs"
good create nc --origin "$O" --cache "$C" --block-size 64K --mode writethrough
mount /dev/mapper/nc "$M" || fail "mount"
good pin nc "$M/a" "$M/b" --label set --no-load
inode=$(stat -c %i "$M/a")
rm "$M/a"
head -c 256k /dev/urandom >"$M/stranger"
sync
[[ $(stat -c %i "$M/stranger") == "$inode" ]] || fail "the inode was not used again"
mv "$M/b" "$M/c"
good pin nc --refresh -j
expect pins 1 moved 1 gone 1 state dropped path "$M/a"
good ranges nc -j
expect range_count 1
