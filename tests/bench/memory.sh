# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The memory that a large cache takes, and how long it takes to load a table in which each slot holds a
# block, all of it: devices without delay, that hold nothing but what was written.
#   rows: cache_bytes, block_size (bytes), blocks, memory_bytes (that the kernel has less while the
#	cache is open), memory_per_block, module_bytes (what the module says that it takes),
#	load_nanoseconds (of dmsetup create), blocks_loaded
# memory: 6G
# virtual time only: devices of that size do not exist, and what they take is the same everywhere
# shellcheck disable=SC2154 # devices are set by who includes this

# TiB of the cache device, and block size; 64 TiB in blocks that let its table fit here.
caches=("1 256K" "16 1M" "64 4M")

# memory_free: bytes, that nobody has, not even the page cache; those that lie ready for a processor
# are no part of MemFree.
memory_free() {
	drop_caches
	awk '/^MemFree/ { free = $2 * 1024 } $1 == "count:" { free += $2 * 4096 } END { print free }' \
		/proc/meminfo /proc/zoneinfo
}

memory_row() {
	local tib=$1 size=$2 before begin end after blocks
	make_null O origin $((256 << 20))
	make_null C local $((tib << 20))
	INTEGRITY=none format "$C" "$O" "$size"
	./sbset "$C" fill >/dev/null || fail "cannot fill the table"
	sync
	before=$(memory_free)
	begin=${EPOCHREALTIME/./}
	start bench '' "$O" "$C"
	end=${EPOCHREALTIME/./}
	after=$(memory_free)
	blocks=$(field blocks bench)
	row cache_bytes $((tib << 40)) block_size $((${size%?} << (${#size} > 2 ? 10 : 20))) blocks "$blocks" \
		memory_bytes $((before - after)) memory_per_block "$(ratio $((before - after)) "$blocks" 2)" \
		module_bytes "$(field metadata_memory bench)" load_nanoseconds $(((end - begin) * 1000)) \
		blocks_loaded "$(field blocks_warm bench)"
	stop bench
	pair_gone
}

# What the first cache of all takes once.
first() {
	pair 64 64
	INTEGRITY=none format "$C" "$O" 256K
	start bench '' "$O" "$C"
	stop bench
	pair_gone
}

bench() {
	local cache
	first
	for cache in "${caches[@]}"; do
		# shellcheck disable=SC2086 # two words
		memory_row $cache
	done
}
