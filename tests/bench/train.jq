# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark train.
include "verdict";

def setting: "\(.workload) \(.accelerator) \(.order) \(.io) f=\(.f) \(.target) \(.origin_gbps) GB/s \(.origin_ms) ms";
def place: "\(setting) epoch \(.epoch)";
# main: is the row of the setting in which nearcache is compared with its peers?
def main: .workload == "unet3d" and .accelerator == "h100" and .io == "direct" and .origin_gbps == 1 and .origin_ms <= 2;
def mean_au: map(.au) | mean | round4;

# half_at: latency at which the AU falls to 50 %, interpolated on a logarithmic scale.
def half_at:
	sort_by(.origin_ms) | . as $p |
	if $p[0].au < 0.5 then "below 50 % at \($p[0].origin_ms) ms already"
	elif $p[-1].au >= 0.5 then "50 % or more up to \($p[-1].origin_ms) ms"
	else
		first(range(1; length) | select($p[.].au < 0.5)) as $i | $p[$i - 1] as $a | $p[$i] as $b |
		(($a.origin_ms | log) + (($a.au - 0.5) / ($a.au - $b.au)) * (($b.origin_ms | log) - ($a.origin_ms | log)) | exp |
			. * 100 | round / 100) as $ms | "below 50 % from \($ms) ms on"
	end;

.rows as $all |
verdict("unet3d on an H100, origin 1 GB/s, f = 0.65, from epoch 2: AU >= 0.88";
	$all[] | select(main and .f == 0.65 and .target == "nearcache" and .epoch >= 2 and .origin_ms == 0.2);
	.au >= 0.88;
	"\(place): \(.au), bound \(.bound)"),
verdict("the same, mean of the epochs";
	[$all[] | select(main and .f == 0.65 and .target == "nearcache" and .epoch >= 2 and .origin_ms == 0.2)] | group_by(.order)[] |
		{order: .[0].order, au: mean_au, bound: .[0].bound};
	.au >= 0.88;
	"\(.order): \(.au), bound \(.bound)"),
verdict("f >= 1, from epoch 2: AU >= 0.97 of that of the bare cache device";
	([$all[] | select(main and .target == "raw-cache")] | if . == [] then empty else mean_au end) as $raw |
		$all[] | select(main and .f >= 1 and (.target | startswith("nearcache")) and .epoch >= 2) | . + {raw: $raw};
	.au >= 0.97 * .raw;
	"\(place): \(.au), bare cache device \(.raw)"),
verdict("with a prefetch job, epoch 1: AU within 3 % of the bound by the origin's bandwidth";
	$all[] | select(main and .f >= 1 and .target == "nearcache-list" and .epoch == 1);
	.au >= 0.97 * .bound;
	"\(place): \(.au), bound \(.bound)"),
verdict("with a prefetch job or a plan, epoch 1, origin up to 20 ms away: AU >= 0.95 of the bound; 50 ms: 0.90";
	$all[] | select(.f >= 1 and (.target == "nearcache-list" or .target == "nearcache-plan") and .epoch == 1);
	.au >= (if .origin_ms <= 20 then 0.95 else 0.9 end) * .bound;
	"\(place): \(.au), bound \(.bound)"),
verdict("with a plan, f = 0.65, from epoch 2, origin up to 20 ms away: AU >= 0.95 of the bound; 50 ms: 0.90";
	$all[] | select(.f == 0.65 and .target == "nearcache-plan" and .epoch >= 2);
	.au >= (if .origin_ms <= 20 then 0.95 else 0.9 end) * .bound;
	"\(place): \(.au), bound \(.bound)"),
verdict("with a plan, f = 0.25 and 0.5, from epoch 2, origin up to 20 ms away: AU >= 0.93 of the bound";
	$all[] | select((.f == 0.25 or .f == 0.5) and .target == "nearcache-plan" and .epoch >= 2 and .origin_ms <= 20);
	.au >= 0.93 * .bound;
	"\(place): \(.au), bound \(.bound)"),
verdict("with a plan, f < 1, from epoch 2, origin up to 20 ms away: read at most 1 % more than under MIN";
	# In a reshuffled epoch MIN reads the part of the dataset that does not fit into the cache.
	$all[] | select(.f < 1 and .origin_ms <= 20 and .target == "nearcache-plan" and .epoch >= 2 and .order == "reshuffled" and .origin);
	.origin <= 1.01 * (1 - .f);
	"\(place): \(.origin), MIN \(1 - .f | round4)"),
verdict("with the daemon, the same order, f = 0.65, from epoch 3: AU >= 0.90 of the bound";
	$all[] | select(.target == "nearcache-daemon" and .epoch >= 3);
	.au >= 0.9 * .bound;
	"\(place): \(.au), bound \(.bound)"),
verdict("a prefetch job in each epoch, f = 0.65, from epoch 2: AU at least that of no job, less 0.01";
	[$all[] | select(.f == 0.65 and .epoch >= 2 and .order == "reshuffled" and .io == "direct" and
		(.target == "nearcache" or .target == "nearcache-list"))] |
		group_by([.workload, .accelerator, .origin_ms, .origin_gbps, .epoch])[] |
		map(select(.target == "nearcache-list")) as $list | map(select(.target == "nearcache")) as $none |
		# A setting that is measured twice counts by its mean.
		select($list != [] and $none != []) | $list[0] + {au: ($list | mean_au), none: ($none | mean_au)};
	.au >= .none - 0.01;
	"\(place): \(.au), without \(.none)"),
(("dm-cache", "bcache") as $peer |
	verdict("at or above \($peer), mean of epochs from 2";
		[$all[] | select((.target == "nearcache" or .target == $peer) and .epoch >= 2)] |
			group_by([.workload, .accelerator, .order, .io, .f, .origin_ms, .origin_gbps])[] |
			(map(select(.target == "nearcache"))) as $ours | (map(select(.target == $peer))) as $other |
			select(($ours | length) > 0 and ($other | length) > 0) |
			$ours[0] + {au: ($ours | mean_au), other: ($other | mean_au)};
		# Allow 0.0005: the fourth digit varies between runs.
		.au + 0.0005 >= .other;
		"\(setting): \(.au), \($peer) \(.other)")),
"latency of an origin of 4 GB/s at which AU falls below 50 %:",
([$all[] | select(.workload == "unet3d" and .accelerator == "h100" and .origin_gbps == 4)] |
	group_by([.target, .f])[] |
	"\t\(.[0].target)\(if .[0].target | startswith("raw") then "" else ", f = \(.[0].f), epoch \(map(.epoch) | max)" end): \(
		group_by(.origin_ms) | map(max_by(.epoch)) | half_at)")
