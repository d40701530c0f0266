#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache drive is pulled under a mounted file system and plugged in again under another name:
# 'nearcache attach' must take it back while fio writes and verifies. If the drive is plugged in
# only after the close, the cache must not serve data that was overwritten meanwhile.
# kernels: 6.1
# timeout: 300
# cpus: 1
. ./cache.sh
. ./command.sh
. ./drive.sh

bypassed() {
	[[ $(field state) == 1 ]]
}

# fio_job [fio options]: one direct and one buffered job.
fio_job() {
	fio --directory="$TMPDIR/mnt" --rw=randwrite --ioengine=libaio --iodepth=8 --verify=crc32c \
		--verify_fatal=1 --thread "$@" --name=direct --direct=1 --bs=4k --size=1M \
		--name=buffered --bs=12k --size=1M >"$TMPDIR/fio" 2>&1
}

# load_begin: write and verify in the background until load_end.
load_begin() {
	rm -f "$TMPDIR/load-stop"
	load &
	load_pid=$!
	at_exit load_kill
}

load() {
	while [[ ! -e $TMPDIR/load-stop ]]; do
		fio_job || return
	done
}

load_kill() {
	touch "$TMPDIR/load-stop"
	wait "$load_pid" || true
}

load_end() {
	touch "$TMPDIR/load-stop"
	wait "$load_pid" || fail "fio: $(cat "$TMPDIR/fio")"
}

works() {
	[[ $(field state) == 0 ]]
}

more() {
	(($(field "$1") > $2))
}

# go_on COUNTER WHEN: fail unless the counter increases.
go_on() {
	wait_for 60 more "$1" "$(field "$1")" || fail "no more $1 $2: $(cat "$TMPDIR/fio")"
}

# sound KIND DEV: fail if the file system checker finds an error.
sound() {
	case $1 in
	ext4) e2fsck -fn "$2" ;;
	xfs) xfs_repair -n "$2" ;;
	esac >"$TMPDIR/fsck" 2>&1 || fail "$1 on $2: $(cat "$TMPDIR/fsck")"
}

# files KIND DEV: check the file system, and print the checksums of its files.
files() {
	sound "$1" "$2"
	mount "$2" "$TMPDIR/mnt" || fail "mount $1 on $2"
	echo 1 >/proc/sys/vm/drop_caches
	fio_job --verify_only || fail "$1 on $2: $(cat "$TMPDIR/fio")"
	(cd "$TMPDIR/mnt" && sha256sum ./*.?.0) || exit
	umount "$TMPDIR/mnt"
}

unmount() {
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
}

create() {
	good create nc --origin "$O" --cache "$C" --mode writethrough --block-size 64K --force
}

# yank KIND: pull and plug the drive under a mounted file system.
yank() {
	local sums begin=$SECONDS old
	create
	wipefs -aq /dev/mapper/nc
	"mkfs.$1" -q /dev/mapper/nc >/dev/null || fail "mkfs.$1"
	mount /dev/mapper/nc "$TMPDIR/mnt" || fail "mount $1"
	load_begin
	go_on hits "before"
	old=$C
	pull
	wait_for 60 bypassed || fail "not bypassed: $(dmsetup status nc)"
	good status nc
	[[ $out == *bypass*"'nearcache attach nc' takes it back"* ]] || fail "status: $out"
	bad 4 "is gone: name one with --cache DEV" attach nc
	go_on writes "without the drive"
	plug
	echo "$1: it was $old, it is $C"
	good attach nc --cache "$C" -j
	expect state normal loaded unclean cache "$C" mode writethrough formatted false
	go_on hits "with the drive"
	go_on updates "with the drive"
	load_end
	# Wait: after the plug the drive may be too slow for a while.
	wait_for 30 works || fail "it does not work: $(dmsetup status nc)"
	umount "$TMPDIR/mnt"
	sums=$(files "$1" /dev/mapper/nc) || exit
	good close nc
	same "$1: the origin" "$(files "$1" "$O")" "$sums"
	echo "$1: $((SECONDS - begin)) s"
}

# In read-only mode the drive comes back: the cache must be as warm as before.
returned() {
	create
	./blockdata write /dev/mapper/nc -g 1 -n 8192
	good close nc
	good open nc --cache "$C" --origin "$O" --read-only
	check -g 1 -n 8192
	settle
	written_down
	verify_begin -b 8 -a 1 -t 2 -n 8192
	pull
	wait_for 60 bypassed || fail "not bypassed: $(dmsetup status nc)"
	plug
	good attach nc --cache "$C" -j
	expect state normal loaded recovered bytes_valid 4194304
	verify_end
	check -g 1 -n 8192
	above hits 0
	good close nc
}

# The drive is pulled, data is overwritten, the device closed, and the drive plugged in.
forgotten() {
	create
	./blockdata write /dev/mapper/nc -g 1 -n 8192
	check -g 1 -n 8192
	settle
	check -g 1 -n 8192
	above hits 0
	pull
	./blockdata write /dev/mapper/nc -g 2 -n 8192
	check -g 2 -n 8192
	good close nc
	plug
	good open nc --cache "$C" --origin "$O" --mode writethrough -j
	expect content cold loaded unclean state normal
	is blocks_used 0
	check -g 2 -n 8192
	settle
	check -g 2 -n 8192
	above hits 0
	good close nc
}

make_null O origin 320 discard=1 cache_size=2
mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
need_drive
at_exit dm_gone nc
at_exit unmount
for kind in ext4 xfs; do
	if type "mkfs.$kind" >/dev/null 2>&1 && modprobe "$kind"; then
		yank "$kind"
	else
		echo "no $kind here"
	fi
done
returned
forgotten
