#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The complete product on a real remote volume, with ext4, XFS and EROFS: a list of shards is
# prefetched and must then be read without the origin. Half of the shards are pinned: nc must never
# read them from the origin again, while epochs in random order read more data than the cache holds.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

TESTS=$PWD
M=$TMPDIR/mnt
SHARD=$((256 << 10))

unmount() {
	cd /
	! grep -q " $M " /proc/mounts || umount "$M"
}

# populate FOLDER: write shards whose data differs per file system.
populate() {
	"$TESTS/filedata" write $SHARD 0 "$1/$fs"-{00..99}.tar || fail "cannot write the shards"
}

# made: create the file system and the shards on $O.
made() {
	case $fs in
	ext4) mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$O" ;;
	xfs) mkfs.xfs -qfK "$O" ;;
	erofs) populate "$TMPDIR/tree" && mkfs.erofs -T0 "$O" "$TMPDIR/tree" >/dev/null ;;
	esac 2>"$TMPDIR/err" || fail "mkfs.$fs: $(<"$TMPDIR/err")"
	[[ $fs != erofs ]] || return 0
	mount -t "$fs" "$O" "$M" && populate "$M" && umount "$M" || fail "$fs on $O"
}

# opened: create a new cache on $O and mount it read-only; sets capacity.
opened() {
	local options=ro
	[[ $fs != xfs ]] || options+=,norecovery
	good create nc --origin "$O" --cache "$C" --block-size 64K --force -j
	capacity=$(json capacity)
	mount -t "$fs" -o "$options" /dev/mapper/nc "$M" && cd "$M" || fail "mount $fs"
}

# bytes FILE...: read the files in this order with direct I/O and check each byte.
bytes() {
	same "bytes of $# shards" "$("$TESTS/filedata" read "$@")" $(($# * SHARD))
	settle
}

# without_origin FILE...: read the files; fail if the origin is read.
without_origin() {
	# Load the file system's metadata first.
	ls -l "$@" >/dev/null
	origin_mark
	bytes "$@"
	same "bytes from the origin of $1 and $(($# - 1)) more" "$(origin_delta)" 0
}

# shuffled EPOCH: list the unpinned shards in the order of that epoch.
shuffled() {
	good prefetch nc "$fs"-*[13579].tar --rank 0 --world-size 1 --seed 11 --epoch "$1" --dry-run -j
	sed -n 's/^ *"name": "\(.*-[0-9]*.tar\)".*/\1/p' <<<"$out"
}

prefetched() {
	local cold=("$fs"-*[37].tar)
	printf '%s\n' "${cold[@]}" >"$TMPDIR/list"
	good prefetch nc --from "$TMPDIR/list" --wait -j
	expect shard_count 20 bytes $((20 * SHARD)) state 'done' left_bytes 0
	without_origin "${cold[@]}"
}

# epochs: read epochs; whichever blocks the cache keeps, only the rest may come from the origin.
epochs() {
	local epoch order more=$((100 * SHARD - capacity))
	((more * 4 >= 50 * SHARD)) || fail "the cache is too large: $capacity bytes"
	for epoch in 1 2 3; do
		mapfile -t order < <(shuffled $epoch)
		same "shards of epoch $epoch" ${#order[@]} 50
		origin_mark
		bytes "${order[@]}"
		echo "# epoch $epoch: $(origin_delta) bytes from the origin, at least $more"
		(($(origin_delta) >= more)) || fail "epoch $epoch: the origin was read too little"
	done
}

# kept: pin shards; fail unless they stay cached, whatever else is read, and are not read again.
kept() {
	local keep=("$fs"-*[02468].tar) loaded
	good pin nc "${keep[@]}" --label keep --wait -j
	expect shard_count 50 bytes $((50 * SHARD)) state 'done' left_bytes 0
	good ranges nc --labels -j
	loaded=$(json origin_bytes)
	epochs
	without_origin "${keep[@]}"
	good ranges nc --labels -j
	expect label keep hit_ratio 1 misses 0 hit_bytes $((50 * SHARD)) origin_bytes "$loaded"
}

# on FS: test this file system.
on() {
	fs=$1
	made
	opened
	prefetched
	kept
	unmount
	good destroy nc
	echo "# $fs: ok"
}

mkdir "$M" "$TMPDIR/tree"
make_null remote behind 320
make_null C local 23
O=$(remote_up 0 "$remote") || fail "no remote volume"
at_exit remote_down
at_exit dm_gone nc
at_exit unmount
on ext4
! type -P mkfs.xfs >/dev/null || on xfs
! type -P mkfs.erofs >/dev/null || ! modprobe erofs || on erofs
