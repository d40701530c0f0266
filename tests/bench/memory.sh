# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Memory of a large cache, and load time of a slot table in which each slot holds a complete block.
# The devices are sparse and have no delay.
#   rows: cache_bytes, block_size (bytes), blocks, memory_bytes (decrease of the kernel's free
#	memory while the cache is open), memory_per_block, module_bytes (metadata_memory in the
#	status), load_nanoseconds (of dmsetup create), blocks_loaded
# memory: 6G
# virtual time only: no real device has this size, and the memory does not depend on the machine
# shellcheck disable=SC2154 # the including script sets the devices

# TiB of the cache device, and block size; for 64 TiB so large that the table fits into the guest.
caches=("1 256K" "16 1M" "64 4M")

# memory_free: print the bytes of free memory after dropping caches, including the per-CPU free
# lists, which MemFree does not count.
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

# Use a first cache, so that one-time allocations are not measured.
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
