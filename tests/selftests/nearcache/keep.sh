#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No LRU thrash: of a dataset twice the cache, read once per epoch in any order, the
# cached half stays and hits; a dataset that is read again and again outlives a scan.
# kernels: 6.1
. ./cache.sh

# epochs DATASET_MB ORDER: from the second on at most (1 - 0.95 f) of it is read.
epochs() {
	local sectors=$(($1 * 2048)) f epoch hits order
	f=$(($(field blocks) * 65536 / 1024))	# KiB
	for epoch in 1 2 3 4; do
		order=()
		[[ $2 != shuffled ]] || order=(-o -S $((epoch * 31)))
		origin_mark
		hits=$(field hit_bytes)
		check -n "$sectors" "${order[@]}"
		settle
		hits=$(($(field hit_bytes) - hits))
		echo "$2, epoch $epoch: $((hits >> 10)) KiB hits, $(($(origin_delta) >> 10)) KiB from the origin"
		((epoch > 1)) || continue
		((hits >= 95 * f * 1024 / 100)) || fail "$2, epoch $epoch: $hits bytes of hits"
		(($(origin_delta) <= ($1 << 20) - 95 * f * 1024 / 100)) || fail "$2, epoch $epoch: $(origin_delta) bytes from the origin"
	done
}

make_null O origin 32
make_null C local 14
./blockdata write "$O"
for order in same shuffled; do
	format
	start
	epochs 24 $order
	stop
done
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
