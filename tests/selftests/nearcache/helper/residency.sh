#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache residency and invalidate of files, ranges and samples: exactly the data that was read is
# cached. ext4, XFS and EROFS, and devices
# between file system and cache.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./shards.sh

# origin NAME SIZE: create $O; the exit handlers first unmount it and remove nc.
origin() {
	make_null O "$@"
	at_exit dm_gone nc
	at_exit unmount
}

# shard NAME BYTES: create a file of zeros.
shard() {
	head -c "$2" /dev/zero >"$1"
}

# open_on FS [OPTIONS]: create a cache on $O and mount it read-only.
open_on() {
	good create nc --origin "$O" --cache "$C" --block-size 64K --force
	mount -t "$1" -o "ro${2:+,$2}" /dev/mapper/nc "$M" || fail "mount $1"
}

closed() {
	umount "$M" || fail "umount"
	good close nc
}

# cached FILE RATIO: fail unless this part of the file is cached.
cached() {
	good residency nc "$1" -j
	[[ $(json ratio) == "$2" ]] || fail "$1 (line ${BASH_LINENO[0]}): ratio $(json ratio), not $2: $out"
}

# each_alone FILE...: reading or dropping a file must cache or drop only this file.
each_alone() {
	local file other
	for file; do
		run invalidate nc
		[[ $rc == 0 ]] || fail "invalidate: $err"
		cached "$file" 0
		direct "$file"
		settle
		for other; do
			[[ $other == "$file" ]] && cached "$other" 1 || cached "$other" 0
		done
	done
	direct "$@"
	settle
	run invalidate nc "$1"
	[[ $rc == 0 && $err == *'mounted on'* && $out == *dropped* ]] || fail "invalidate $1: $err $out"
	cached "$1" 0
	for other in "${@:2}"; do
		cached "$other" 1
	done
	good residency nc "$@"
	[[ $out == *'................................'*'0.0 %'*" $1"*'################################'*'100.0 %'* ]] ||
		fail "residency: $out"
}

# populate: create files that can be cached (plain, fragmented, of an odd length, empty) in good/,
# and files that cannot in bad/.
populate() {
	local i
	mkdir good bad
	shard good/plain.bin 1m
	shard good/odd.bin 300001
	: >good/empty
	# Write two files in turn, so that both are fragmented.
	for i in {0..7}; do
		dd if=/dev/zero of=good/fragments.bin bs=16K count=1 seek=$i conv=notrunc oflag=direct 2>/dev/null
		dd if=/dev/zero of=bad/other bs=16K count=1 seek=$i conv=notrunc oflag=direct 2>/dev/null
	done
	dd if=/dev/zero of=bad/sparse bs=4K count=1 seek=8 2>/dev/null
	truncate -s 1M bad/sparse
	fallocate -l 64K bad/unwritten || fail "fallocate"
}

on_ext4() {
	origin ext4 48
	mkfs.ext4 -qF -b 4096 -O inline_data,^has_journal -E nodiscard "$O" 2>/dev/null || fail "mkfs.ext4"
	mount "$O" "$M" && (cd "$M" && rmdir lost+found && populate && echo tiny >bad/tiny) || fail "populate"
	umount "$M"
	open_on ext4
	cd "$M/good" || exit
	each_alone plain.bin fragments.bin
	good residency nc fragments.bin -j
	(($(json ranges) > 1)) || fail "fragments.bin is in one piece: $out"
	json_keys schema name shards ratio cached_bytes bytes ranges name shard_count cached_bytes bytes
	# A file of an odd length counts whole sectors; a file named twice counts once.
	good residency nc odd.bin ./odd.bin empty -j
	expect bytes 300032 shard_count 2
	good residency nc ../bad/tiny -j
	expect bytes 0 unlocated_files 1 unlocated_bytes 5
	bad 4 "'../bad/tiny': bytes 0 to 4: the data is stored inside" invalidate nc ../bad/tiny
	words
	not_on_it
	cd "$TMPDIR" || exit
	closed
	written
}

# words: try other forms of operands, and errors in each form.
words() {
	good residency nc '*.bin' 0-1M 1M+512K 2M:64K -j
	expect name nc shard_count 6
	printf '%s\n' plain.bin odd.bin >"$TMPDIR/list"
	good residency nc --from "$TMPDIR/list" -j
	expect shard_count 2
	out=$(printf '%s\0' plain.bin 0-512 | nearcache residency nc --from - -j) || fail "--from -"
	expect shard_count 2
	good residency nc -j
	json_keys schema name ratio cached_bytes bytes
	expect bytes $((48 << 20))
	bad 1 'needs NAME' residency
	bad 4 "no device 'nobody'" residency nobody
	bad 4 "'none': No such file" residency nc none
	bad 1 "'1-2' is not a range of the device: its start '1'" residency nc 1-2
	bad 4 "beyond the end of the device at 50331648" residency nc 48M+512
	bad 4 "is a block device: give a range of 'nc'" residency nc "$O"
	bad 1 "--samples needs a TARGET" residency nc --samples 1
	bad 1 "--range and TARGETs exclude each other" invalidate nc plain.bin --range 0:512
}

# not_on_it: files of other file systems must be refused.
not_on_it() {
	local other
	bad 4 "has no block device of its own" residency nc "$TMPDIR/list"
	make_null other other 16
	mkfs.ext4 -qF -E nodiscard "$other" 2>/dev/null
	mkdir "$TMPDIR/other"
	mount "$other" "$TMPDIR/other" && at_exit umount "$TMPDIR/other" || fail "mount other"
	shard "$TMPDIR/other/file" 64k
	bad 4 "'$TMPDIR/other/file', byte 0, is not on device 'nc': it is on '${other#/dev/}'" \
		residency nc plain.bin "$TMPDIR/other/file"
}

# written: a file just written has no extents yet; the command must make the file system allocate
# them. Also samples, which are parts of a shard.
written() {
	good create nc --origin "$O" --cache "$C" --block-size 64K --force --mode writethrough
	mount /dev/mapper/nc "$M" || fail "mount rw"
	shard "$M/new" 128k
	good residency nc "$M/new" -j
	expect bytes 131072
	mkdir tree
	for i in {0..9}; do
		yes "$i" | head -c 64k >"tree/$i.bin"
	done
	(cd tree && busybox tar -cf "$M/shard.tar" -- *.bin)
	good residency nc "$M/shard.tar" --samples 0-1,=7 -j
	expect bytes $((3 * (65536 + 512))) ranges 2
	bad 4 "a shard of format tar has no index" residency nc "$M/shard.tar" --index-only
	# One sample of 3 and one of 8000 bytes after an index of 18 bytes.
	(printf '\2\0\0\0\22\0\0\0\25\0\0\0\125\37\0\0{}' && head -c 8003 /dev/urandom) >"$M/a.mds"
	good residency nc "$M/a.mds" --index-only -j
	expect bytes 512
	closed
}

on_xfs() {
	type -P mkfs.xfs >/dev/null || return 0
	origin xfs 320
	mkfs.xfs -qfK "$O" || fail "mkfs.xfs"
	mount -t xfs "$O" "$M" && (cd "$M" && populate) || fail "populate"
	umount "$M"
	open_on xfs norecovery
	cd "$M/good" || exit
	each_alone odd.bin fragments.bin
	cd "$TMPDIR" || exit
	closed
}

# image OPTIONS...: write an EROFS image of $TMPDIR/erofs to $O.
image() {
	rm -f image
	mkfs.erofs "$@" image erofs >/dev/null 2>&1 || fail "mkfs.erofs $*"
	dd if=image of="$O" bs=64K conv=fsync 2>/dev/null
}

# EROFS stores the tail of most files after their inodes.
on_erofs() {
	type -P mkfs.erofs >/dev/null && modprobe erofs || return 0
	origin erofs 16
	mkdir erofs
	shard erofs/plain 1m
	shard erofs/aligned 64k
	shard erofs/odd 300001
	shard erofs/tail 8193
	shard erofs/tiny 700
	image -T0
	open_on erofs
	cd "$M" || exit
	each_alone plain aligned
	run invalidate nc
	direct odd tail tiny
	settle
	# The command reads the inode to find the tail, which caches it for the next call.
	good residency nc odd tail tiny
	settle
	cached odd 1
	cached tail 1
	cached tiny 1
	cached plain 0
	cd "$TMPDIR" || exit
	closed
	yes text | head -c 256k >erofs/text
	image -T0 -zlz4
	open_on erofs
	good residency nc "$M/text" -j
	expect bytes 0 unlocated_bytes 262144
	bad 4 "text': bytes 0 to 262143: the data is compressed" prefetch nc "$M/text"
	closed
}

# layers: file systems on a partition of a loop device, and on a volume of two exchanged pieces.
layers() {
	local loop volume
	origin layers 48
	good create nc --origin "$O" --cache "$C" --block-size 64K --force --mode writethrough
	{
		dd if=/dev/zero bs=446 count=1
		printf '\0\0\0\0\x83\0\0\0\x08\0\0\0\0\x40\0\0'
		dd if=/dev/zero bs=48 count=1
		printf '\x55\xaa'
	} 2>/dev/null | dd of=/dev/mapper/nc bs=512 oflag=direct iflag=fullblock 2>/dev/null
	modprobe loop
	loop=$(losetup -P -f --show --direct-io=on /dev/mapper/nc) || fail "losetup"
	at_exit eval "! losetup $loop >/dev/null 2>&1 || losetup -d $loop"
	at_exit dm_gone volume
	at_exit unmount
	on_layer "${loop}p1" 2m
	losetup -d "$loop"
	make_dm volume volume "0 8192 linear /dev/mapper/nc 65536
8192 8192 linear /dev/mapper/nc 16400"
	# The file does not fit into the first piece.
	on_layer "$volume" 5m
	dm_remove volume
	good close nc
}

# on_layer DEV SIZE: create two files, one of SIZE, and check their residency.
on_layer() {
	mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$1" 2>/dev/null || fail "mkfs.ext4 $1"
	mount "$1" "$M" || fail "mount $1"
	shard "$M/a" "$2"
	shard "$M/b" 1m
	sync
	run invalidate nc
	[[ $rc == 0 ]] || fail "invalidate: $err"
	cached "$M/a" 0
	direct "$M/b"
	settle
	cached "$M/b" 1
	cached "$M/a" 0
	direct "$M/a"
	settle
	cached "$M/a" 1
	umount "$M"
}

type -P nearcache >/dev/null || skip "the nearcache command is not built"
cd "$TMPDIR" && mkdir "$M" || exit
make_null C local 64
on_ext4
on_xfs
on_erofs
layers
