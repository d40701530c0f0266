#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Files with holes, unwritten and inline data: every verb leaves out what has no place on the device,
# counts it, and brings the rest. ext4 and XFS.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

M=$TMPDIR/mnt

# populate: create files with 192 KiB of data in all, 256 KiB of holes and 64 KiB of unwritten data.
populate() {
	mkdir "$M/d" && cd "$M/d" || return
	ln -s none link
	head -c 64k /dev/urandom >full
	head -c 64k /dev/urandom >first && truncate -s 192k first
	dd if=/dev/urandom of=last bs=64K count=1 seek=2 2>/dev/null
	fallocate -l 64K unwritten
	head -c 1000 /dev/urandom >../short
	cd "$TMPDIR" || return
}

# on FS OPTIONS MORE: the verbs with the files of populate(), and a file of MORE inline bytes.
on() {
	local bytes=$((192 << 10)) empty=$((320 << 10))
	good create nc --origin "$O" --cache "$C" --block-size 64K --force
	mount -t "$1" -o "$2" /dev/mapper/nc "$M" || fail "mount $1"
	good prefetch nc "$M/d" --wait -j
	expect bytes $bytes empty_bytes $empty unlocated_files "$((!!$3))" unlocated_bytes "$3" passed_over 1
	good residency nc "$M/d/*" -j
	expect bytes 65536 ratio 1 empty_bytes $empty unlocated_bytes "$3" passed_over 1
	good heatmap nc "$M/d" --count 1 -j
	[[ $out == *'"empty_bytes":'$empty* ]] || fail "heatmap: $out"
	good plan nc "$M/d" --dry-run -j
	expect bytes $bytes empty_bytes $empty
	good pin nc "$M/d" --no-load -j
	expect bytes $bytes empty_bytes $empty
	good unpin nc "$M/d"
	bad 4 "65536 of 65536 bytes are holes or unwritten" pin nc "$M/d/unwritten" --strict
	bad 4 "there is nothing to pin: the TARGETs have no data on the device" pin nc "$M/d/unwritten"
	bad 4 "--strict refuses '$M/d/link': it is not a regular file" prefetch nc "$M/d" --strict
	run invalidate nc "$M/d/last" "$M/d/unwritten" -j
	[[ $rc == 0 ]] || fail "invalidate: $err"
	expect length 131072 empty_bytes $((192 << 10))
	[[ $err == *"'$M/d/last' has 131072 bytes of holes: if another host"*"'nearcache invalidate nc'"* ]] ||
		fail "no warning of holes: $err"
	# The rest of the last block, which another host may have written.
	run invalidate nc "$M/short" -j
	[[ $rc == 0 && $err != *holes* ]] || fail "beyond the end: $err"
	expect length 4096 empty_bytes 0
	umount "$M"
}

cd "$TMPDIR" && mkdir "$M" || exit
make_null C local 64
at_exit dm_gone nc
at_exit eval "! grep -q ' $M ' /proc/mounts || umount $M"

make_null O ext4 48
mkfs.ext4 -qF -b 4096 -O inline_data,^has_journal -E nodiscard "$O" 2>/dev/null || fail "mkfs.ext4"
mount "$O" "$M" && populate && echo tiny >"$M/d/tiny" && umount "$M" || fail populate
on ext4 ro 5
mount -o ro /dev/mapper/nc "$M"
bad 4 "'$M/d/tiny': bytes 0 to 4: the data is stored inside" invalidate nc "$M/d"
bad 4 "'$M/d/tiny': bytes 0 to 4: the data is stored inside" prefetch nc "$M/d/tiny"
umount "$M"
good close nc

if type -P mkfs.xfs >/dev/null; then
	make_null O xfs 320
	mkfs.xfs -qfK "$O" || fail "mkfs.xfs"
	mount -t xfs "$O" "$M" && populate && umount "$M" || fail populate
	on xfs ro,norecovery 0
	good close nc
fi
