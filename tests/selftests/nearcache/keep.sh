#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No LRU thrash: of a dataset twice the cache, read once per epoch in any order, the
# cached half stays and hits; a dataset that is read again and again outlives a scan; and
# when another one takes its place, the cache follows.
# kernels: 6.1
. ./cache.sh

# epochs START_MB DATASET_MB ORDER [UNTIL [FROM]]: from epoch FROM (2) on, until UNTIL (4), at
# most (1 - PART f) of it is read, PART 95 percent unless set.
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

# spread DATASET_MB: of each third of it a part is cached.
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
# Once in order, from an origin that takes its time: reclaim keeps up.
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
# The cache is full of a dataset; a scan of more than the cache goes by, in parts.
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
# Another dataset of the same size, on an origin of more than both. In so small a cache it is chance
# whether a round of the reclaim is over before the reads of the epoch are, when they come from
# memory: then it has an epoch more. And until the first block is read again in the second epoch a
# few go for what is to stay.
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
