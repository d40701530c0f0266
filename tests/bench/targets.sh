# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What is compared: nearcache, its peers and what all of them stand on, each set up as its users are
# told to for data that is read. Included behind cache.sh, with $O (origin) and $C (cache device).
#
#   raw          the cache device itself: what a hit costs below any cache
#   dm-linear    the least that device-mapper can do
#   nearcache    blocks of 256 KiB, read-only; -100k-ranges: with as many ranges of labels in what
#                is read; -crc32c: with checksums
#   nearcache-dm-stripe  its cache device is a dm-striped of two drives
#   dm-cache     smq, blocks of 256 KiB, writethrough, migration_threshold for 64 MiB at a time, so
#                that what is read is promoted soon (kernel documentation, admin-guide/device-mapper/cache)
#   bcache       writethrough, buckets of 512 KiB; sequential_cutoff and congestion off, as all is to
#                be cached (kernel documentation, admin-guide/bcache, "Troubleshooting performance")
#   dm-writecache  blocks of 4 KiB, never written back on its own (watermarks 100): it caches what is
#                written alone, so what is read has been written through it
# shellcheck disable=SC2154 # devices are set by who includes this

# All that is cached, MiB.
BENCH_MB=32

# With COLD set nothing is: reads miss, and what is without a cache is the origin.
COLD=''

# fill: everything is read.
fill() {
	[[ ! $COLD ]] || return 0
	dd if="$device" of=/dev/null bs="${1:-256}k" count=$((BENCH_MB * 1024 / ${1:-256})) iflag=direct 2>/dev/null ||
		fail "cannot read $device"
}

# fill_all: the same, until all of it comes from the cache device; some take six passes for that.
# In between is time for what they do in the background.
fill_all() {
	local before pass asked=''
	[[ ! $COLD ]] || return 0
	for ((pass = 0; pass < 50; pass++)); do
		before=$(origin_reads "$O")
		# More reads of each block than of any other make it one to be kept.
		fill $((pass < 8 ? 256 : 16))
		before=$(($(origin_reads "$O") - before))
		((before)) || return 0
		asked+=" $((before >> 10))"
		nap 10
	done
	fail "$device does not keep $BENCH_MB MiB that are read over and over; the origin was asked for these KiB:$asked"
}

# zero DEVICE MB: its start.
zero() {
	dd if=/dev/zero of="$1" bs=1M count="$2" oflag=direct 2>/dev/null || fail "cannot write $1"
}

# quiet: nothing is done to the devices any more, for a while.
quiet() {
	local now=0 before='' i
	for ((i = 0; i < 3; i++)); do
		now="$(<"$(sys_block "$O")/stat") $(<"$(sys_block "$C")/stat")"
		[[ $now == "$before" ]] || i=0
		before=$now
		nap 0.3
	done
}

# target_up NAME: puts the device to be read into $device; all that is read is cached.
target_up() {
	local bare=$C
	[[ ! $COLD ]] || bare=$O
	[[ $COLD ]] || ! [[ $1 == raw || $1 == dm-linear ]] || zero "$C" $BENCH_MB
	case $1 in
	raw | origin) device=$bare ;;
	dm-linear) make_dm device bench "0 $(sectors "$bare") linear $bare 0" ;;
	nearcache-dm-stripe) up_dm_stripe ;;
	nearcache*) up_nearcache "${1#nearcache}" ;;
	dm-cache) up_dm_cache ;;
	dm-writecache) up_dm_writecache ;;
	bcache) up_bcache ;;
	*) fail "'$1' is no target" ;;
	esac
}

target_down() {
	case $1 in
	raw | origin) ;;
	bcache) down_bcache ;;
	nearcache-dm-stripe) dm_remove bench; dm_remove stripe; null_del second ;;
	dm-cache) dm_remove bench; null_del meta ;;
	*) dm_remove bench ;;
	esac
}

up_nearcache() {
	INTEGRITY=none
	[[ $1 != -crc32c ]] || INTEGRITY=crc32c
	format "$C" "$O" 256K
	start bench '' "$O" "$C"
	device=/dev/mapper/bench
	[[ $1 != -100k-ranges ]] ||
		./genl range-add name=bench "range=50000@512,start=0,length=1024,label=one" \
			"range=50000@512,start=$((4 << 20)),length=512,label=two" >/dev/null || fail "no ranges"
	fill
	settle bench
}

# Chunks of a block: the same spread as that of a cache on two devices.
up_dm_stripe() {
	local striped first=$C
	make_null D second 512
	make_dm striped stripe "0 $(($(sectors "$C") + $(sectors "$D"))) striped 2 512 $C 0 $D 0"
	C=$striped
	up_nearcache ''
	C=$first
}

up_dm_cache() {
	# A device for its metadata, so that hits need not pass through a part of $C.
	make_null M meta 16
	zero "$M" 16
	make_dm device bench "0 $(sectors "$O") cache $M $C $O 512 1 writethrough smq 2 migration_threshold 131072"
	fill_all
}

up_dm_writecache() {
	zero "$C" 1
	make_dm device bench "0 $(sectors "$O") writecache s $O $C 4096 4 high_watermark 100 low_watermark 100"
	[[ ! $COLD ]] || return 0
	dd if=/dev/zero of="$device" bs=256k count=$((BENCH_MB * 4)) oflag=direct 2>/dev/null || fail "cannot write"
}

# bcache_up BUCKET: /dev/bcache0, on new devices.
bcache_up() {
	local dir file
	modprobe bcache || fail "no bcache"
	zero "$O" 1
	zero "$C" 1
	make-bcache -b "$1" -B "$O" -C "$C" >/dev/null || fail "make-bcache"
	for file in "$O" "$C"; do
		echo "$file" >/sys/fs/bcache/register_quiet || fail "bcache refuses $file"
	done
	wait_for 20 test -e /sys/block/bcache0/bcache/cache || fail "no bcache0"
	dir=/sys/block/bcache0/bcache
	echo writethrough >$dir/cache_mode
	echo 0 >$dir/sequential_cutoff
	echo 0 >$dir/cache/congested_read_threshold_us
	echo 0 >$dir/cache/congested_write_threshold_us
	device=/dev/bcache0
}

up_bcache() {
	bcache_up 512k
	fill_all
}

down_bcache() {
	local set
	set=$(readlink -f /sys/block/bcache0/bcache/cache)
	echo 1 >/sys/block/bcache0/bcache/stop
	echo 1 >"$set/stop"
	wait_for 60 bcache_gone "$set" || fail "bcache does not stop"
}

bcache_gone() {
	[[ ! -e /sys/block/bcache0 && ! -e $1 ]]
}
