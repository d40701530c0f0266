#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is idle gives way to what is read now, also while hits are on their way to slots
# that are taken: right data at each moment.
# kernels: 6.1
. ./cache.sh

make_null O origin 8
make_null base local 4
./blockdata write "$O"
# Hits reach the device late: time to take their slots away.
make_dm C slow "0 $(sectors "$base") delay $base 0 4 $base 0 0"
format
start
blocks=$(field blocks)
part=$((blocks * 128 * 3 / 4))
# The cache fills with one part, read once; then another job reads other data. Once that
# was read again the first part is idle, and the other one moves in.
check -n 8192
settle
for ((passes = 1; ; passes++)); do
	origin_mark
	check -s 8192 -n "$part" -t 8 >/dev/null
	settle
	(($(origin_delta))) || break
	((passes < 24)) || fail "the new dataset does not move in"
done
echo "the new dataset is there after $passes passes"
((passes >= 3)) || fail "the old one went too early"
above evictions 0
(($(field blocks_used) <= blocks)) || fail "more blocks than there are"

# Pressure: datasets of their own, one after the other, several readers each, while
# others read everywhere.
evictions=$(field evictions)
verify_begin -b 1:128 -a 1 -r 60 -t 8
for ((i = 0; i < $(times 2); i++)); do
	for _ in 1 2 3 4 5 6; do
		check -s $((i % 4 * 4096)) -n 3072 -b 128 -t 16 >/dev/null
	done
done
verify_end
# How many there were is up to the distances that the policy happened to see. Two parts
# that do not fit together, each moved in completely, cannot do without.
for start in 0 8192; do
	for ((passes = 1; ; passes++)); do
		origin_mark
		check -s "$start" -n "$part" -t 8 >/dev/null
		settle
		(($(origin_delta))) || break
		((passes < 100)) || fail "the part at $start does not move in"
	done
done
echo "$(field evictions) evictions, $evictions before the pressure"
above evictions "$evictions"
settle
check
# Slots become free for what it missed, maybe still: not when it is suspended.
dmsetup suspend --noudevsync nc || fail "suspend"
valid=$(field bytes_valid)
stop
start
is bytes_valid "$valid"
is slots_dropped 0
check
