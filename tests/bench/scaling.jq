# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark scaling.
include "verdict";

def place: "\(.scenario) \(.target)";
# Add the row of dm-linear for the same load as "linear": hits under a plan are reads that hit.
def beside_linear($all): . as $row | $all[] | select(.target == "dm-linear" and
	.scenario == (if $row.scenario == "plan" then "hits" else $row.scenario end)) as $linear |
	$row + {linear: $linear};
# Rows that count only reads that hit, without workers.
def hits: select(.target == "nearcache" and (.scenario | IN("hits", "hits-beside-misses", "hits-under-plan")));

.rows as $all |
verdict("a hit, with or without a plan: at most 0.02 stores to lines that another processor holds";
	($all[] | hits), ($all[] | select(.scenario == "plan")); .shared_stores_per_io <= 0.02; "\(place): \(.shared_stores_per_io)"),
verdict("hits, with or without a plan: at most one lock per 1000 hits";
	$all[] | hits; .locks_per_io <= 0.001; "\(place): \(.locks_per_io)"),
verdict("a write takes no global lock: none is taken more often than by one write in ten";
	$all[] | select(.target == "nearcache" and .scenario == "writes");
	.hottest_lock_per_io <= 0.1; "\(place): \(.hottest_lock_per_io)"),
verdict("two processors gain as much as with dm-linear, less 5 %";
	$all[] | select(.target == "nearcache" and .two_cpu_ratio) | beside_linear($all);
	.two_cpu_ratio >= .linear.two_cpu_ratio - 0.05 * .linear.two_cpu_ratio;
	"\(place): \(.two_cpu_ratio), dm-linear \(.linear.two_cpu_ratio)")
