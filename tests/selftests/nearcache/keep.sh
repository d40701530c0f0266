#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The default policy does not thrash as LRU does. Of a dataset twice the size of the cache, read
# once per epoch in any order, the cached half must stay and hit. A dataset that is read repeatedly
# must survive a scan. When the job reads another dataset instead, that must replace the old one.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# epochs START_MB DATASET_MB ORDER [UNTIL [FROM]]: read UNTIL (4) epochs. From epoch FROM (2) on,
# PART (95) percent of the cache's size must be hits, and only the rest comes from the origin.
epochs() {
	local sectors=$(($2 * 2048)) kept epoch hits order
	kept=$((${PART:-95} * $(field blocks) * 65536 / 100))
	for ((epoch = 1; epoch <= ${4:-4}; epoch++)); do
		order=()
		[[ $3 != shuffled ]] || order=(-o -S $((epoch * 31)))
		origin_mark
		hits=$(field hit_bytes)
		check -s $(($1 * 2048)) -n "$sectors" "${order[@]}"
		settle
		hits=$(($(field hit_bytes) - hits))
		echo "$3 from $1 MB, epoch $epoch: $((hits >> 10)) KiB hits, $(($(origin_delta) >> 10)) KiB from the origin"
		((epoch >= ${5:-2})) || continue
		((hits >= kept)) || fail "$3, epoch $epoch: $hits bytes of hits"
		(($(origin_delta) <= ($2 << 20) - kept)) || fail "$3, epoch $epoch: $(origin_delta) bytes from the origin"
	done
}

# spread DATASET_MB: fail unless at least a quarter of each third of the dataset is cached.
spread() {
	local third=$(($1 * 1048576 / 3)) part bytes
	for part in 0 1 2; do
		bytes=$(./genl residency-get name=nc start=$((part * third)) length=$third | sed -n 's/^cached-bytes=//p')
		((bytes * 4 >= third)) || fail "of part $part $bytes bytes of $third are cached"
	done
}

make_null O origin 32
make_null C local 14
./blockdata write "$O"
for order in same shuffled; do
	format
	start
	epochs 0 24 $order
	stop
done
# One sequential epoch from a slow origin, so that reclaim keeps up: each part is retained alike.
fast=$O
make_dm O late "0 $(sectors "$fast") delay $fast 0 10"
format
start
check -n 49152
settle
spread 24
stop
dm_gone late
O=$fast
# A dataset fills the cache; then a scan larger than the cache is read in parts: the dataset stays.
format
start
dataset=$(($(field blocks) * 128 - 1024))
for i in 1 2 3; do
	check -n "$dataset"
	settle
done
scanned=$dataset
for ((part = (65536 - dataset) / 12 / 128 * 128; scanned + part <= 65536; scanned += part)); do
	check -s "$scanned" -n "$part"
	settle
	origin_mark
	check -n "$dataset"
	(($(origin_delta) <= dataset * 512 / 20)) || fail "the scan took $(origin_delta) bytes of the dataset"
done
(((scanned - dataset) / 128 > $(field blocks) / 2)) || fail "no scan"
stop
# Another dataset of the same size replaces the first one, on an origin larger than both. When reads
# come from memory and the cache is this small, reclaim may not finish a round within the epoch:
# then the change takes one epoch more. Until the first block is read again in the second epoch,
# reclaim also evicts a few blocks that should stay.
make_null C near 7
make_null late remote 32 completion_nsec=1000000
./blockdata write "$late"
for O in "$late" "$fast"; do
	format
	start
	PART=90 epochs 0 14 shuffled 3
	if [[ $O == "$late" ]]; then
		epochs 16 14 shuffled 5 4
	else
		epochs 16 14 shuffled 5 5
	fi
	stop
done
