# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark hitpath.
include "verdict";

def place: "\(.target) \(.pattern) \(.block_size) bytes, \(.iodepth) in flight";
# Add the row of $target for the same reads as "other".
def beside($all; $target): . as $row | $all[] | select(.target == $target and .pattern == $row.pattern and
	.block_size == $row.block_size and .iodepth == $row.iodepth) as $other | $row + {other: $other};

.rows as $all |
verdict("4 KiB: at most 1.15 times the instructions that dm-linear adds, also with 100,000 ranges";
	$all[] | select(.target | IN("nearcache", "nearcache-100k-ranges")) | select(.block_size == 4096) |
		beside($all; "dm-linear");
	.added_instructions <= 1.15 * .other.added_instructions;
	"\(place): \(.added_instructions), dm-linear \(.other.added_instructions)"),
(("dm-writecache", "bcache", "dm-cache") as $peer |
	verdict("4 KiB: fewer instructions than \($peer)";
		$all[] | select(.target == "nearcache" and .block_size == 4096) | beside($all; $peer);
		.added_instructions < .other.added_instructions;
		"\(place): \(.added_instructions), \($peer) \(.other.added_instructions)")),
verdict("4 KiB: a cluster device adds at most 2,300 instructions to a hit of the local cache";
	$all[] | select(.target == "nearcache-cluster-here" and .block_size == 4096) | beside($all; "nearcache");
	.added_instructions <= .other.added_instructions + 2300;
	"\(place): \(.added_instructions), nearcache \(.other.added_instructions)"),
verdict("4 KiB: a cluster device adds at most 2,500 instructions to a read of the device of a peer";
	$all[] | select(.target == "nearcache-cluster-peer" and .block_size == 4096);
	.added_instructions <= 2500; "\(place): \(.added_instructions)"),
verdict("4 KiB: fewer instructions for a read of a peer than dm-switch above dm-multipath";
	$all[] | select(.target == "nearcache-cluster-peer" and .block_size == 4096) |
		beside($all; "dm-switch-multipath");
	.added_instructions < .other.added_instructions;
	"\(place): \(.added_instructions), dm-switch-multipath \(.other.added_instructions)"),
verdict("64 and 256 KiB: within 2 % of the throughput of dm-linear";
	$all[] | select(.target == "nearcache" and .block_size > 4096) | beside($all; "dm-linear");
	.iops >= 0.98 * .other.iops;
	"\(place): \(.iops), dm-linear \(.other.iops)")
