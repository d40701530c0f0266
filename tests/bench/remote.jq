# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark remote.
include "verdict";

def place: "\(.device), case \(.case), \(.pattern) \(.block_size) bytes, \(.iodepth) in flight";
def ours: .device == "nearcache-cluster";

.rows as $all |
verdict("throughput of a peer: at least 0.9 of the slower of port and drive";
	$all[] | select(ours and (.case | IN("port", "drive"))); .ratio >= 0.9; "\(place): \(.ratio)"),
verdict("a peer dies: no read takes longer than the transport's 5 s and one more";
	$all[] | select(ours and (.case | IN("dead", "after"))); .longest_ms <= 6000; "\(place): \(.longest_ms) ms"),
verdict("a peer dies: no more reads stall than with dm-switch above dm-multipath";
	$all[] | select(ours and .case == "dead") | . as $row |
		$all[] | select(.device == "dm-switch-multipath" and .case == $row.case and .iodepth == $row.iodepth) |
		$row + {other: .stalled};
	.stalled <= .other; "\(place): \(.stalled), dm-switch-multipath \(.other)")
