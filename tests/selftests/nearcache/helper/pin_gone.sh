#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache pin --refresh: the pin of a deleted file goes, but only with proof. A renamed and a
# replaced file are followed, and a new file in a pinned folder is pinned.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

M=$TMPDIR/mnt

cleanup() {
	exec 5<&-
	cd /
	umount -R "$M" 2>/dev/null || true
	rm -f /var/lib/nearcache/pins/nc.json
}

# refreshed WHAT KEY VALUE...: refresh; the JSON must have these values.
refreshed() {
	sync
	run pin nc --refresh -j
	[[ $rc == 0 ]] || fail "$1: $err"
	expect "${@:2}"
}

mkdir "$M"
make_null O origin 64
make_null C local 32
at_exit dm_gone nc
at_exit cleanup
mkfs.ext4 -qF -b 4096 -O ^has_journal "$O" 2>/dev/null || fail "mkfs"
good create nc --origin "$O" --cache "$C" --block-size 64K --mode writethrough
mount /dev/mapper/nc "$M" || fail "mount"
mkdir "$M/set" "$M/other"
for i in a b c d; do head -c 256k /dev/urandom >"$M/set/$i"; done
sync
good pin nc "$M/set" --label set --no-load
rm "$M/set/a"
mv "$M/set/b" "$M/b"
cp "$M/set/c" "$M/new" && mv "$M/new" "$M/set/c"
head -c 256k /dev/urandom >"$M/set/e"
refreshed "a deleted, b renamed, c replaced, e new" pins 4 moved 2 gone 1 added 1 state dropped path "$M/set/a"
good ranges nc -j
expect range_count 4
refreshed again pins 4 moved 0 gone 0 added 0 unchecked 0

mount -t tmpfs none "$M/set" || fail "tmpfs"
refreshed "another file system over the folder" pins 4 gone 0
umount "$M/set"
mount --bind "$M/other" "$M/set" || fail "bind"
refreshed "another folder over the folder" pins 4 gone 0
umount "$M/set"
mv "$M/set" "$M/real" && ln -s other "$M/set"
refreshed "a link in place of the folder" pins 4 gone 0
rm "$M/set" && mv "$M/real" "$M/set"
umount "$M" || fail "umount"
refreshed "not mounted" pins 4 gone 0 unchecked 5
mount /dev/mapper/nc "$M" || fail "mount"

exec 5<"$M/set/d"
rm "$M/set/d"
sync
run pin nc --refresh --keep-gone -j
expect pins 4 gone 1 state kept
refreshed "kept by the last refresh" pins 4 gone 1 state kept
run unpin nc "$M/set/d"
[[ $rc == 0 && $err == *"new files in folder '$M/set' are no longer pinned"* ]] || fail "unpin: $err"
refreshed "the kept pin removed" pins 3 gone 0 added 0
good unpin nc "$M/set/e"
refreshed "unpinned" pins 2 added 0
rm -r "$M/set"
refreshed "the folder deleted" pins 1 gone 1 path "$M/set/c"
bad 1 "--keep-gone goes with --refresh" pin nc --keep-gone "$M/b"
