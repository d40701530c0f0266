# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# virtual time only: the sizes and rates of the devices are scaled
# Fraction of the time that accelerators compute while the nodes of a cluster train together. The
# nodes share an origin of 1 GB/s; each has a cache on a drive of its own, and a port of 25 Gb/s.
# Each node trains like unet3d on an H100 (train.c), with the scaling of train.sh. In each epoch
# each file is read by one node, in a new random order.
#   rows: device (nearcache-cluster: a cluster device on each node; dm-switch-multipath: the same
#	homes by means of device-mapper alone; nearcache: each node reads only its own cache), nodes,
#	replicas (homes of an extent), f (room of the cache of one node divided by the dataset),
#	epoch, node, au (fraction of the time that this node computes, without the first step),
#	origin_bytes_ratio (bytes that the origin served to all nodes / dataset), peer_bytes_ratio
#	(bytes that this node read at peers / bytes that it read), hit_here, hit_peer (parts of the
#	bytes that this node read: from its own cache device, and from cache devices of peers; the
#	readers of a cache count alike), bound (of au: see README.md)
# Environment: CLUSTER_NODES, CLUSTER_F (percent), CLUSTER_REPLICAS: subsets; CLUSTER_EPOCHS.
# shellcheck disable=SC2154,SC2034,SC2004,SC2046 # the including script sets the devices; maps; words
# shellcheck source=tests/bench/train.sh
. "$here/train.sh"
# shellcheck source=tests/bench/nodes.sh
. "$here/nodes.sh"

targets=(nearcache-cluster dm-switch-multipath nearcache)
read -ra counts <<<"${CLUSTER_NODES:-1 2 4 8}"
read -ra rooms <<<"${CLUSTER_F:-25 50}"
epochs=${CLUSTER_EPOCHS:-3}
# Homes of an extent; more: as many as all caches together have room for, if more than 1.
read -ra homes <<<"${CLUSTER_REPLICAS:-1 more}"
# Files that a node reads in an epoch: 24 batches.
NODE_FILES=168
unet3d_scale=38.147
ORIGIN_MS=0.2 ORIGIN_GBPS=1

# counted MAP: read the counters into MAP[origin] (bytes served), MAP[J] (bytes that the cache device
# of node J served), MAP[I,J] (bytes that node I read at node J).
counted() {
	local -n to=$1
	local i j here
	to[origin]=$(origin_reads "$O")
	for ((i = 1; i <= nodes; i++)); do
		look "to[$i]" hit_bytes "home$i"
		here=$(origin_reads "${reads[i]}")
		for ((j = 1; j <= nodes; j++)); do
			to[$i,$j]=0
			[[ $j != "$i" && $target != nearcache ]] || continue
			to[$i,$j]=$(origin_reads "/dev/mapper/link$i-$j")
			here=$((here - to[$i,$j]))
		done
		to[$i,$i]=$here
	done
}

# epoch NUMBER: train on all nodes at once, and append their rows.
epoch() {
	local i au bound pids=()
	local -A before after
	counted before
	for ((i = 1; i <= nodes; i++)); do
		"${BENCH_PROGRAMS:-$here/tools}/train" "${reads[i]}" unet3d h100 "${shape[@]}" -e "$1" \
			-p "$((i - 1))/$nodes" >"$TMPDIR/trained$i" &
		pids[i]=$!
	done
	for ((i = 1; i <= nodes; i++)); do
		wait "${pids[i]}" || fail "training on node $i"
	done
	for ((i = 1; i <= nodes; i++)); do
		settle "home$i"
		[[ $target != nearcache-cluster ]] || all_up "$i" || echo "# not all up: $(dmsetup status "node$i")" >&2
	done
	counted after
	bound=$(cluster_bound "$1") || fail "no bound"
	for ((i = 1; i <= nodes; i++)); do
		read -r au _ <"$TMPDIR/trained$i"
		row device "$target" nodes "$nodes" replicas "$replicas" f "$(percent "$room")" epoch "$1" node "$i" au "$au" \
			origin_bytes_ratio "$(part $((after[origin] - before[origin])) "$dataset")" \
			$(shares "$i") bound "$bound"
	done
}

# shares NODE: print names and values of the columns about the reads of a node.
shares() {
	local i j all=0 peers=0 hit hit_here=0 hit_peers=0 got served
	for ((j = 1; j <= nodes; j++)); do
		served=0
		for ((i = 1; i <= nodes; i++)); do
			served=$((served + after[$i,$j] - before[$i,$j]))
		done
		got=$((after[$1,$j] - before[$1,$j]))
		all=$((all + got))
		hit=$((served ? got * (after[$j] - before[$j]) / served : 0))
		if ((j == $1)); then
			hit_here=$hit
		else
			peers=$((peers + got))
			hit_peers=$((hit_peers + hit))
		fi
	done
	echo peer_bytes_ratio "$(part "$peers" "$all")" hit_here "$(part "$hit_here" "$all")" \
		hit_peer "$(part "$hit_peers" "$all")"
}

# cluster_bound EPOCH: print the bound of AU: see README.md.
cluster_bound() {
	awk -v epoch="$1" -v nodes="$nodes" -v replicas="$replicas" -v one="$((slots * bytes))" -v dataset="$dataset" \
		-v demand="$demand" -v alone="$([[ $target == nearcache ]] && echo 1 || echo 0)" \
		-v origin="$origin_rate" -v drive="$(sum "$CACHE_MBPS * 1e6 / $scale")" \
		-v port="$(sum "$LINK_GBIT * 1e9 / 8 / $scale")" '
	BEGIN {
		# Each epoch before read one of the copies.
		copies = alone ? nodes : replicas
		missed = 1
		for (e = 1; e < epoch; e++)
			missed *= 1 - 1 / copies
		if (missed < 1 - one * nodes / copies / dataset)
			missed = 1 - one * nodes / copies / dataset
		remote = alone ? 0 : 1 - replicas / nodes
		au = drive / demand
		if (missed > 0 && origin / missed / nodes / demand < au)
			au = origin / missed / nodes / demand
		if (remote > 0 && port / remote / demand < au)
			au = port / remote / demand
		printf "%.4f", au < 1 ? au : 1
	}'
}

# trains_together REPLICAS EPOCHS: measure $target with $nodes nodes and room for $room percent.
trains_together() {
	local replicas=$1 shape reads=() dataset demand scale files origin_rate origin_is cache_is slots number
	echo "# $nodes nodes, room for $room % each, homes: $replicas, $target" >&2
	shape unet3d
	files=$((nodes * NODE_FILES))
	devices $ORIGIN_MS $ORIGIN_GBPS
	shape=(-k "$scale" -n "$files")
	read -r dataset demand < <("${BENCH_PROGRAMS:-$here/tools}/train" /dev/null unet3d h100 "${shape[@]}" -i)
	# shellcheck disable=SC2086 # one word each
	make_null O origin $((dataset / 1048576 + 2)) $origin_is memory_backed=0
	# Limit requests to the size of a read, as in train.sh.
	echo 256 >"$(sys_block "$O")/queue/max_sectors_kb"
	homes_up $((dataset * room / 100 / bytes)) "$cache_is"
	nodes_up
	for ((number = 1; number <= $2; number++)); do
		epoch "$number"
		nap 10
	done
	nodes_gone
}

bench() {
	local nodes room target
	insmod "/link/$(uname -r)/dm-bench-link.ko" || fail "no model of a link"
	for nodes in "${counts[@]}"; do
		for room in "${rooms[@]}"; do
			for target in "${targets[@]}"; do
				[[ $target != dm-switch* || $nodes == 4 ]] || continue
				[[ " ${homes[*]} " != *" 1 "* ]] || trains_together 1 "$epochs"
				[[ " ${homes[*]} " == *" more "* && $target == nearcache-cluster ]] || continue
				# The other copies come in later epochs.
				((nodes * room < 200)) || trains_together $((nodes * room / 100)) $((2 * epochs))
			done
		done
	done
}
