# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark latency.
include "verdict";

def place: "\(.scenario), \(.block_size) bytes";

.rows as $all |
verdict("p99.9 at most 1.5 times that of the bare cache device under the same writes";
	$all[] | select(.target == "nearcache"); .p999_ratio <= 1.5; "\(place): \(.p999_ratio)"),
verdict("maximum at most 3 times that of the bare cache device";
	$all[] | select(.target == "nearcache"); .max_ratio <= 3; "\(place): \(.max_ratio)")
