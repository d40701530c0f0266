# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for a file system with shards on a cache: . ./shards.sh, after cache.sh and command.sh.
# $M is where the cache is mounted.
# shellcheck disable=SC2154 # $out
M=$TMPDIR/mnt

unmount() {
	cd /
	! grep -q " $M " /proc/mounts || umount "$M"
}

# shards_made MB_OF_ORIGIN MB_OF_CACHE: make both devices, and mount ext4 on the origin for writing.
shards_made() {
	mkdir "$M"
	make_null O origin "$1"
	make_null C local "$2"
	at_exit dm_gone nc
	at_exit unmount
	mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$O" 2>/dev/null && mount "$O" "$M" || fail "mkfs"
	rmdir "$M/lost+found"
}

# shards_cached: unmount the origin, create a cache of it, mount the cache, and work in its root.
shards_cached() {
	umount "$M"
	good create nc --origin "$O" --cache "$C" --block-size 64K
	mount -o ro /dev/mapper/nc "$M" && cd "$M" || fail "mount"
}

# direct FILE...: read with direct I/O, so that reads reach the cache.
direct() {
	local file
	for file; do
		dd if="$file" of=/dev/null bs=64K iflag=direct 2>/dev/null || fail "cannot read $file"
	done
}

# job_is STATE: is this the state of the last job?
job_is() {
	good jobs nc -j
	[[ $(sed -n 's/.*"state": "\(.*\)".*/\1/p' <<<"$out" | tail -1) == "$1" ]]
}

# job_left: print how many bytes of the last job in $out (jobs -j) are missing.
job_left() {
	sed -n 's/.*"left_bytes": \(.*\),/\1/p' <<<"$out" | tail -1
}

# is_cached FILE: is all of the file in the cache?
is_cached() {
	good residency nc "$1" -j
	[[ $(json ratio) == 1 ]]
}
