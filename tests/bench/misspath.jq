# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark misspath.
include "verdict";

def place: "devices of kind \(.devices), \(.pattern) \(.block_size) bytes, \(.iodepth) in flight";

.rows as $all |
verdict("throughput at least 0.97 of the bare origin";
	$all[] | select(.target == "nearcache"); .throughput_ratio >= 0.97; "\(place): \(.throughput_ratio)"),
verdict("p99 at most 1.10 times that of the bare origin";
	$all[] | select(.target == "nearcache"); .p99_ratio <= 1.1; "\(place): \(.p99_ratio)"),
verdict("the origin reads each byte once";
	$all[] | select(.target == "nearcache"); .origin_bytes_ratio == 1; "\(place): \(.origin_bytes_ratio)"),
verdict("all bytes read are cached afterwards";
	$all[] | select(.target == "nearcache"); .cached_bytes_ratio == 1; "\(place): \(.cached_bytes_ratio)")
