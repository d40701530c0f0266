# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark stage.
include "verdict";

def ours: .target == "nearcache-stage";
# beside(NAME): rows of nearcache-stage and of each peer in which both have the figure.
def beside($all; name): $all[] | select(ours) | . as $row | $all[] |
	select(.target | IN("dm-writecache", "bcache", "dm-cache")) | select(name != null) |
	{target, name: ($row | name), other: name} | select(.name != null);
def words: "\(.name), \(.target) \(.other)";

.rows as $all |
verdict("fsync of a checkpoint: at least 0.95 of the bare drive";
	$all[] | select(ours and .ratio_to_raw); .ratio_to_raw >= 0.95; "\(.ratio_to_raw)"),
verdict("fsync of a checkpoint in a file: at least 0.95 of the bare drive";
	$all[] | select(ours and .file_ratio_to_raw); .file_ratio_to_raw >= 0.95; "\(.file_ratio_to_raw)"),
verdict("fsync of a checkpoint in a file: earlier than with each peer";
	beside($all; .file_seconds_to_fsync); .name < .other; words),
verdict("FLUSH: p99 at most 1.1 times that of the bare drive";
	$all[] | select(ours and .flush_p99_ratio); .flush_p99_ratio <= 1.1; "\(.flush_p99_ratio)"),
verdict("drain: at least 0.95 of the bandwidth of the origin";
	$all[] | select(ours); .drain_ratio >= 0.95; "\(.drain_ratio)"),
verdict("drain: within 2 % of a rate that was set";
	$all[] | select(ours); .rate_ratio >= 0.98 and .rate_ratio <= 1.02; "\(.rate_ratio)"),
verdict("hits of the cache above: p99 at most 1.05 times that before the drain";
	$all[] | select(ours); .hit_p99_ratio <= 1.05; "\(.hit_p99_ratio)"),
verdict("fsync: earlier than with each peer";
	beside($all; .seconds_to_fsync); .name < .other; words),
verdict("durable on the origin: earlier than with each peer";
	beside($all; .seconds_to_durable); .name < .other; words),
# The last write and the FLUSH take 2 ms in any case, so the highest possible ratio is .9996.
verdict("drain: at most 0.01 % slower than that of each peer";
	beside($all; .drain_ratio); .name >= 0.9999 * .other; words),
verdict("FLUSH: p99 below that of each peer";
	beside($all; .flush_p99_ratio); .name < .other; words),
verdict("hits during the drain: p99 ratio below that of each peer";
	beside($all; .hit_p99_ratio); .name < .other; words),
verdict("fewer instructions for a write of 4 KiB than each peer";
	beside($all; .instructions_per_write); .name < .other; words)
