# SPDX-License-Identifier: GPL-2.0-only
# Targets of the benchmark latency.
include "verdict";

def place: "\(.scenario), \(.block_size) bytes";

.rows as $all |
verdict("p99.9 at most 1.5 times the bare cache device's under the same writes";
	$all[] | select(.target == "nearcache"); .p999_ratio <= 1.5; "\(place): \(.p999_ratio)"),
verdict("the longest at most 3 times the bare cache device's";
	$all[] | select(.target == "nearcache"); .max_ratio <= 3; "\(place): \(.max_ratio)")
