# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark memory.
include "verdict";

def place: "\(.cache_bytes) bytes of cache, blocks of \(.block_size)";
def tib: 1099511627776;

.rows as $all |
verdict("at most 32 bytes of memory per block"; $all[]; .memory_per_block <= 32; "\(place): \(.memory_per_block)"),
verdict("a full table of 16 TiB loads within 10 seconds";
	$all[] | select(.cache_bytes == 16 * tib); .load_nanoseconds < 10e9; "\(place): \(.load_nanoseconds / 1e9) s")
