# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The targets of the benchmarks: nearcache, its peers and the bare devices. Each peer is set up as
# its documentation recommends for reads. Included after cache.sh, with $O (origin) and $C (cache
# device).
#
#   raw          the bare cache device: cost of a hit without a cache
#   dm-linear    minimum cost of device-mapper
#   nearcache    blocks of 256 KiB, read-only; -100k-ranges: with 100,000 labelled ranges in the
#                data read; -crc32c: with checksums; -planned: with a plan that reads all blocks in
#                turn, again and again
#   nearcache-cluster-here  a cluster device of four nodes above nearcache; the local node is the
#                home of all data.  -peer: a peer is the home, and its device is a bare one, so that
#                the network does not count
#   dm-switch-multipath  what device-mapper offers for the same: dm-switch sends each region of 16
#                MiB to one of four dm-multipath devices, with the peer and the local cache as paths
#   nearcache-dm-stripe  the cache device is a dm-striped of two drives
#   dm-cache     smq, blocks of 256 KiB, writethrough, migration_threshold of 64 MiB for fast
#                promotion (kernel documentation, admin-guide/device-mapper/cache)
#   bcache       writethrough, buckets of 512 KiB; sequential_cutoff and congestion off to cache all
#                reads (kernel documentation, admin-guide/bcache, "Troubleshooting performance")
#   dm-writecache  blocks of 4 KiB, no writeback (watermarks 100); it caches only writes, so the
#                data is written through it first
# shellcheck disable=SC2154 # the including script sets the devices

# Cached data, MiB.
BENCH_MB=32

# With COLD set nothing is cached: reads miss, and targets without a cache use the origin.
COLD=''

# fill [KIB]: read all data once.
fill() {
	[[ ! $COLD ]] || return 0
	dd if="$device" of=/dev/null bs="${1:-256}k" count=$((BENCH_MB * 1024 / ${1:-256})) iflag=direct 2>/dev/null ||
		fail "cannot read $device"
}

# fill_all: read until all data comes from the cache device; some targets need six passes. The
# pauses give them time for background work.
fill_all() {
	local before pass asked=''
	[[ ! $COLD ]] || return 0
	for ((pass = 0; pass < 50; pass++)); do
		before=$(origin_reads "$O")
		# Small reads raise the read count of each block, which the policy needs to keep it.
		fill $((pass < 8 ? 256 : 16))
		before=$(($(origin_reads "$O") - before))
		((before)) || return 0
		asked+=" $((before >> 10))"
		nap 10
	done
	fail "$device does not keep $BENCH_MB MiB after repeated reads; KiB read from the origin in each pass:$asked"
}

# zero DEVICE MB: write zeros to the first MB MiB of DEVICE.
zero() {
	dd if=/dev/zero of="$1" bs=1M count="$2" oflag=direct 2>/dev/null || fail "cannot write $1"
}

# quiet: wait until the devices have been idle for a while.
quiet() {
	local now=0 before='' i
	for ((i = 0; i < 3; i++)); do
		now="$(<"$(sys_block "$O")/stat") $(<"$(sys_block "$C")/stat")"
		[[ $now == "$before" ]] || i=0
		before=$now
		nap 0.3
	done
}

# target_up NAME: set up a target with all data cached; set $device to the device to read.
target_up() {
	local bare=$C
	[[ ! $COLD ]] || bare=$O
	[[ $COLD ]] || ! [[ $1 == raw || $1 == dm-linear ]] || zero "$C" $BENCH_MB
	case $1 in
	raw | origin) device=$bare ;;
	dm-linear) make_dm device bench "0 $(sectors "$bare") linear $bare 0" ;;
	nearcache-dm-stripe) up_dm_stripe ;;
	nearcache-cluster-*) up_cluster "${1##*-}" ;;
	dm-switch-multipath) up_switch ;;
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
	nearcache-cluster-*) dm_remove bench; dm_remove home; null_del peer ;;
	dm-switch-multipath)
		dm_remove bench
		for device in path0 path1 path2 path3; do
			dm_remove $device
		done
		null_del home
		null_del peer
		;;
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
	[[ $1 != -planned ]] ||
		./genl plan-submit name=bench "range=4096@0,start=0,length=$((BENCH_MB << 20))" plan=commit=1 >/dev/null ||
		fail "no plan"
}

# A chunk is as large as a block, so that data is distributed as in a cache with two members.
up_dm_stripe() {
	local striped first=$C
	make_null D second 512
	make_dm striped stripe "0 $(($(sectors "$C") + $(sectors "$D"))) striped 2 512 $C 0 $D 0"
	C=$striped
	up_nearcache ''
	C=$first
}

# up_cluster here|peer: with one extent, whose first home is the node that is wanted.
up_cluster() {
	local self=b name nodes='' first
	read -r first _ < <(./cluster_homes -l 1 a:1 b:1 c:1 d:1)
	[[ $1 == peer ]] || self=$first
	[[ $self != "$first" || $1 == here ]] || self=a
	make_null P peer $(($(sectors "$O") / 2048))
	zero "$P" $BENCH_MB
	format "$C" "$O" 256K
	start home '' "$O" "$C"
	for name in a b c d; do
		nodes+=" $name 1 $([[ $name == "$self" ]] && echo - || echo "$P")"
	done
	make_dm device bench "0 $(sectors "$O") nearcache-peers /dev/mapper/home $O $((1 << 31)) 1 $self 4$nodes"
	wait_for 20 peers_up || fail "the peers do not come up: $(dmsetup status bench)"
	fill
	settle home
}

# peers_up: is each node up, or the local one?
peers_up() {
	dmsetup status bench | awk '{ for (i = 7; i < 31; i += 6) if ($i != 0 && $i != 4) exit 1 }'
}

up_switch() {
	local i paths=''
	make_null P peer $(($(sectors "$O") / 2048))
	make_null H home $(($(sectors "$O") / 2048))
	zero "$P" $BENCH_MB
	for i in 0 1 2 3; do
		make_dm path "path$i" "0 $(sectors "$O") multipath 2 queue_mode bio 0 2 1 round-robin 0 1 1 $P 1 round-robin 0 1 1 $H 1"
		paths+=" $path 0"
	done
	make_dm device bench "0 $(sectors "$O") switch 4 32768 0$paths"
}

up_dm_cache() {
	# The metadata has its own device, so that hits do not go through a partition of $C.
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

# bcache_up BUCKET: make /dev/bcache0 on new devices.
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
