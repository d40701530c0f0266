#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reads of other blocks evict idle blocks, even while hits on their slots are in flight: every read
# must return the right data.
# kernels: 6.1
. ./cache.sh

make_null O origin 8
make_null base local 4
./blockdata write "$O"
# The delay keeps hits in flight long enough for their slots to be evicted.
make_dm C slow "0 $(sectors "$base") delay $base 0 4 $base 0 0"
format
start
blocks=$(field blocks)
part=$((blocks * 128 * 3 / 4))
# One part of the origin fills the cache and is read once; then another job reads a second part.
# After the second part was read again, the first part is idle, and the second must replace it.
check -n 8192
settle
for ((passes = 1; ; passes++)); do
	origin_mark
	check -s 8192 -n "$part" -t 8 >/dev/null
	settle
	(($(origin_delta))) || break
	((passes < 24)) || fail "the new dataset does not become cached"
done
echo "the new dataset is cached after $passes passes"
((passes >= 3)) || fail "the old dataset was evicted too early"
above evictions 0
(($(field blocks_used) <= blocks)) || fail "more blocks in use than slots"

# Pressure on the slots: several datasets are read in sequence, while readers check the whole
# origin.
evictions=$(field evictions)
verify_begin -b 1:128 -a 1 -r 60 -t 8
for ((i = 0; i < $(times 2); i++)); do
	for _ in 1 2 3 4 5 6; do
		check -s $((i % 4 * 4096)) -n 3072 -b 128 -t 16 >/dev/null
	done
done
verify_end
# How much was evicted so far depends on the reuse distances that the policy sampled. Cache each of
# two parts completely: they do not fit together, so this must evict blocks.
for start in 0 8192; do
	for ((passes = 1; ; passes++)); do
		origin_mark
		check -s "$start" -n "$part" -t 8 >/dev/null
		settle
		(($(origin_delta))) || break
		((passes < 100)) || fail "the part at $start does not become cached"
	done
done
echo "$(field evictions) evictions, $evictions before the pressure"
above evictions "$evictions"
settle
check
# Reclaim may still free slots, for reads that bypassed: suspend, so that bytes_valid is stable.
dmsetup suspend --noudevsync nc || fail "suspend"
valid=$(field bytes_valid)
stop
start
is bytes_valid "$valid"
is slots_dropped 0
check
