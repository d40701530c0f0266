# SPDX-License-Identifier: GPL-2.0-only
# Performance targets of the benchmark cluster.
include "verdict";

def place: "\(.device) of \(.nodes) nodes, f=\(.f), epoch \(.epoch), node \(.node)";
# ours: is it a row of the cluster device with one home for each extent? More copies come later.
def ours: .device == "nearcache-cluster" and .replicas == 1;
def at_least_0: if . < 0 then 0 else . end;

.rows as $all |
verdict("4 nodes, f = 0.25, from epoch 2: AU >= 0.88 on every node";
	$all[] | select(ours and .nodes == 4 and .f == 0.25 and .epoch >= 2);
	.au >= 0.88; "\(place): \(.au), bound \(.bound)"),
verdict("epoch 1: the origin serves at most 1.02 of the dataset to all nodes together";
	$all[] | select(ours and .epoch == 1 and .node == 1);
	.origin_bytes_ratio <= 1.02; "\(place): \(.origin_bytes_ratio)"),
verdict("from epoch 2: the origin serves at most 1 - nodes * f, and 0.02 of the dataset";
	$all[] | select(ours and .epoch >= 2 and .node == 1);
	.origin_bytes_ratio <= (1 - .nodes * .f | at_least_0) + 0.02; "\(place): \(.origin_bytes_ratio)"),
verdict("from epoch 2: at or above dm-switch above dm-multipath, mean AU of nodes and epochs";
	[$all[] | select(.epoch >= 2)] | group_by([.nodes, .f])[] |
		(map(select(ours) | .au)) as $ours | (map(select(.device == "dm-switch-multipath") | .au)) as $other |
		select(($ours | length) > 0 and ($other | length) > 0) |
		.[0] + {au: ($ours | mean | round4), other: ($other | mean | round4)};
	# Allow 1 %: the order of the reads varies.
	.au >= 0.99 * .other; "\(.nodes) nodes, f=\(.f): \(.au), dm-switch-multipath \(.other)")
