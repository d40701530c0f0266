# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark epochs.
include "verdict";

# First epoch of the second dataset in pattern "switch": see orders.h.
def switched: 4;

def once: .pattern | IN("full", "shards", "same");
# steady: rows of epochs in which an adaptive cache has had time to learn.
def steady:
	if once then .epoch >= 2
	elif .pattern == "switch" then (.epoch >= 2 and .epoch < switched) or .epoch >= switched + 3
	else .epoch >= 4 end;
# ours: is the row of nearcache? In pattern "mixture" with pins, as a user would set.
def ours: .target == if .pattern == "mixture" then "nearcache-pins" else "nearcache" end;
def place: "\(.pattern) f=\(.f) epoch \(.epoch)";

.rows as $all |
verdict("once per epoch, from epoch 2: hits >= 0.98 of the bound";
	$all[] | select(ours and once and .epoch >= 2);
	.hit_ratio >= 0.98 * .bound;
	"\(place): \(.hit_ratio), bound \(.bound)"),
verdict("once per epoch, from epoch 2: origin bytes <= 1 - 0.98 of the bound";
	$all[] | select(ours and once and .epoch >= 2);
	.origin_bytes_ratio <= 1 - 0.98 * .bound;
	"\(place): \(.origin_bytes_ratio), bound \(.bound)"),
verdict("after a switch, from its 4th epoch: hits >= 0.98 of the bound";
	$all[] | select(ours and .pattern == "switch" and .epoch >= switched + 3);
	.hit_ratio >= 0.98 * .bound;
	"\(place): \(.hit_ratio), bound \(.bound)"),
verdict("with a plan: within 2 % of MIN, mean of epochs from 2";
	[$all[] | select(.target == "nearcache-plan" and .epoch >= 2)] | group_by([.pattern, .f])[] |
		{pattern: .[0].pattern, f: .[0].f, hits: (map(.hit_ratio) | mean), bound: (map(.bound) | mean)};
	.hits >= 0.98 * .bound;
	"\(.pattern) f=\(.f): \(.hits | round4), MIN \(.bound | round4)"),
# In patterns that read random blocks, one epoch is noise: compare the mean of the epochs.
def summed: if once or .pattern == "switch" then .epoch else 0 end;
(("dm-cache", "bcache") as $peer |
	verdict("at or above \($peer) in every steady row (half, jobs, mixture: mean of epochs from 4)";
		[$all[] | select(steady and (ours or .target == $peer)) | . + {ours: ours}] |
			group_by([.pattern, .f, summed])[] | . as $rows |
			{pattern: .[0].pattern, f: .[0].f, epoch: .[0] | summed,
				hits: ([$rows[] | select(.ours) | .hit_ratio] | if . == [] then null else mean end),
				other: ([$rows[] | select(.ours | not) | .hit_ratio] | if . == [] then null else mean end)} |
			select(.hits and .other);
		.hits >= .other;
		"\(.pattern) f=\(.f)\(if .epoch > 0 then " epoch \(.epoch)" else "" end): \(.hits | round4), \($peer) \(.other | round4)"))
