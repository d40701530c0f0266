#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While a plan is in force, the stream brings data before it is read: hardly any read starts a fill,
# the origin is read as often as with Belady's MIN, and the stream brings no data that no reader uses.
# kernels: 6.12
# cpus: 2
. ./planned.sh

BLOCK=65536

# read_all: read the blocks $starts in their order under a plan. Sets misses, fills and wasted.
read_all() {
	dmsetup message nc 0 invalidate all
	misses=$(($(field misses) + $(field bypass_full))) fills=$(field fills) wasted=$(field prefetched_wasted_bytes)
	plan_of "${starts[@]}"
	visit "${starts[@]}"
	wait_for 30 state_is 2 || fail "the plan did not end: $out"
	settle
	misses=$(($(field misses) + $(field bypass_full) - misses))
	fills=$(($(field fills) - fills))
	wasted=$(($(field prefetched_wasted_bytes) - wasted))
}

make_null O origin 16
make_null C small 9
./blockdata write "$O"
format
start
mapfile -t starts < <(order 2 5 180)
slots=$(field blocks)
least=$((${#starts[@]} - $(min_hits $((slots - slots / 4)) "${starts[@]}")))
read_all
echo "$slots slots: $misses of ${#starts[@]} reads missed; $fills fills, MIN has $least; $wasted bytes wasted"
((misses * 20 <= ${#starts[@]})) || fail "misses"
((fills * 100 <= least * 102)) || fail "fills"
((wasted == 0)) || fail "wasted"
check >/dev/null
# The measurement can tell: without prefetch each of these fills is a miss.
alone=no-prefetch
read_all
echo "without prefetch: $misses missed; $fills fills"
((misses * 4 >= ${#starts[@]})) || fail "not without prefetch"
stop
