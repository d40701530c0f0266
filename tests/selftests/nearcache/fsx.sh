#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# File systems on caches in both writing modes in parallel, with or without a witness. 'fsx' changes
# files by all file operations, while fio writes and verifies. Afterwards the file system must be
# consistent and all files right, through the cache and on the bare origin.
# kernels: 6.1
# timeout: 300
. ./cache.sh

modes=(writearound writethrough)
declare -A origins caches pids

# fio_job MODE [fio options]: run a direct and a buffered job.
fio_job() {
	fio --directory="$TMPDIR/$1" --rw=randwrite --ioengine=libaio --iodepth=16 --verify=crc32c \
		--verify_fatal=1 --thread "${@:2}" --name=direct --direct=1 --bs=4k --size=1536k \
		--name=buffered --bs=12k --size=3M >"$TMPDIR/$1-fio" ||
		fail "$1: fio: $(cat "$TMPDIR/$1-fio")"
}

# load MODE: run fsx and fio on the mounted file system.
load() {
	local seed running=()
	for seed in 1 2; do
		./fsx "$TMPDIR/$1/fsx$seed" -n "$(times 60)" -S "$RANDOM" -s $((seed * 1500)) \
			-m "$TMPDIR/$1-fsx$seed" &
		running+=($!)
	done
	fio_job "$1"
	for seed in "${running[@]}"; do
		wait "$seed" || fail "$1: fsx"
	done
}

# files MODE: compare the files with fsx's models, and print the checksums of all files.
files() {
	local seed
	for seed in 1 2; do
		cmp "$TMPDIR/$1/fsx$seed" "$TMPDIR/$1-fsx$seed" >&2 ||
			fail "$1: fsx$seed does not hold what was written"
	done
	(cd "$TMPDIR/$1" && sha256sum ./*.?.0 fsx?)
}

# sound KIND DEV: fail if the file system checker finds an error.
sound() {
	case $1 in
	ext4) e2fsck -fn "$2" ;;
	xfs) xfs_repair -n "$2" ;;
	btrfs) btrfs check --readonly "$2" ;;
	esac >"$TMPDIR/fsck-${2##*/}" 2>&1 || fail "$1 on $2: $(cat "$TMPDIR/fsck-${2##*/}")"
}

# session KIND MODE: load one file system on /dev/mapper/MODE, and check it.
session() {
	local dev=/dev/mapper/$2 dir=$TMPDIR/$2
	wipefs -aq "$dev"
	"mkfs.$1" -q "$dev" >/dev/null || fail "mkfs.$1 on $2"
	mount -o discard "$dev" "$dir" || fail "mount $1 on $2"
	load "$2"
	umount "$dir"
	sound "$1" "$dev"
	blockdev --flushbufs "$dev"
	mount "$dev" "$dir" || fail "mount $1 on $2 again"
	echo 1 >/proc/sys/vm/drop_caches
	files "$2" >"$TMPDIR/$2-sums" || exit
	fio_job "$2" --verify_only
	[[ $1 != btrfs ]] || btrfs scrub start -B "$dir" >"$TMPDIR/$2-scrub" 2>&1 ||
		fail "$2: scrub: $(cat "$TMPDIR/$2-scrub")"
	umount "$dir"
	alone "$1" "$2"
}

# moved MODE NAME...: fail if one of these counters is 0; one process reads them all, to save time.
moved() {
	local words name
	read -ra words < <(dmsetup status "$1")
	for name in "${@:2}"; do
		[[ ${words[NC_AT[$name]]} != 0 ]] || fail "$1: no $name: ${words[*]}"
	done
}

# alone KIND MODE: remove the cache and check the files on the bare origin.
alone() {
	local sums
	moved "$2" hits fills invalidated_bytes writes flushes discards
	[[ $2 == writearound ]] || above updates 0 "$2"
	is write_errors 0 "$2"
	if witnessed "$1" "$2"; then
		is witness 1 "$2"
		above intent_marks 0 "$2"
	fi
	stop "$2"
	sound "$1" "${origins[$2]}"
	mount "${origins[$2]}" "$TMPDIR/$2" || fail "mount $1 on the origin of $2"
	sums=$(files "$2") || exit
	umount "$TMPDIR/$2"
	same "$1, $2" "$sums" "$(cat "$TMPDIR/$2-sums")"
}

unmounted() {
	! grep -q " $1 " /proc/mounts || umount "$1"
}

# witnessed KIND MODE: does this combination run with a witness, hence with a write intent?
witnessed() {
	[[ "$1 $2" == 'ext4 writethrough' || "$1 $2" == 'xfs writearound' ]]
}

# try KIND: test this kind of file system in both modes.
try() {
	local mode options start=$SECONDS
	for mode in "${modes[@]}"; do
		options=''
		format "${caches[$mode]}" "${origins[$mode]}"
		if witnessed "$1" "$mode"; then
			./intent "${caches[$mode]}" witness "$W" 0 || fail "no witness record"
			# A mark may take longer than the default timeout on a busy machine.
			options="4 cache_timeout 0 witness $W"
		fi
		MODE=$mode start "$mode" "$options" "${origins[$mode]}" "${caches[$mode]}"
		session "$1" "$mode" &
		pids[$mode]=$!
	done
	for mode in "${modes[@]}"; do
		wait "${pids[$mode]}" || failed=1
	done
	[[ ! ${failed:-} ]] || fail "$1"
	echo "$1: $((SECONDS - start)) s"
}

# try_fsx: fsx must detect that another process changed its file.
try_fsx() {
	mkfs.ext4 -q "${origins[writethrough]}" || fail "mkfs.ext4"
	mount "${origins[writethrough]}" "$TMPDIR/writethrough"
	./fsx "$TMPDIR/writethrough/fsx" -n 1000000 -s 64 >"$TMPDIR/log" &
	while kill -0 $! 2>/dev/null; do
		echo spoilt | dd of="$TMPDIR/writethrough/fsx" bs=1 seek=3000 conv=notrunc 2>/dev/null
	done
	! wait $! || fail "fsx did not detect the change"
	grep -q '^WRONG' "$TMPDIR/log" || fail "fsx: $(cat "$TMPDIR/log")"
	umount "$TMPDIR/writethrough"
}

for mode in "${modes[@]}"; do
	make_null "origins[$mode]" "origin-$mode" 320 discard=1 cache_size=2
	make_null "caches[$mode]" "cache-$mode" 18
	mkdir "$TMPDIR/$mode"
	at_exit rmdir "$TMPDIR/$mode"
	at_exit unmounted "$TMPDIR/$mode"
done
make_null W witness 1
try_fsx
for kind in ext4 xfs btrfs; do
	if type "mkfs.$kind" >/dev/null 2>&1 && modprobe "$kind"; then
		try "$kind"
	else
		echo "no $kind here"
	fi
done
