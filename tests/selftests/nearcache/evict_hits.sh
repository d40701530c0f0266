#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Blocks become idle and are evicted while hits on them are still in flight to the cache device:
# their slots must not be overwritten before the hits complete.
# kernels: 6.12
# when: soak
. ./cache.sh
# shellcheck disable=SC2034 # for line
OPTIONS='2 cache_timeout 0'

# slow MS: table of a device that delays reads (hits) by MS, but not the writes of fills.
slow() {
	echo "0 $(sectors "$base") delay $base 0 $1 $base 0 0"
}

delay_hits() {
	dmsetup load --noudevsync slow --table "$(slow "$1")" && dmsetup resume --noudevsync slow ||
		fail "dm-delay of $1 ms"
}

hits_are() {
	(($(field hits) >= $1))
}

make_null O origin 8
make_null base local 3
./blockdata write "$O"
make_dm C slow "$(slow 0)"
format
start
blocks=$(field blocks)
for ((round = 0; round < $(times 1); round++)); do
	# One pass fills the cache; two more show the policy a reuse distance as large as the cache.
	for _ in 1 2 3; do
		check -n $((blocks * 128)) -t "$blocks"
		settle
	done
	delay_hits 1500
	evictions=$(field evictions) hits=$(field hits)
	verify_begin -n $((blocks * 128)) -t "$blocks"
	touch "$verify_stop"
	wait_for 10 hits_are $((hits + blocks)) || fail "no hits"
	# While the slow hits are in flight, repeated reads of other data want the slots.
	for _ in 1 2 3 4 5 6; do
		check -s $((blocks * 128)) -n $((blocks * 64)) -t 2 >/dev/null
	done
	verify_end
	settle
	above evictions "$evictions"
	delay_hits 0
	check -t 64
done
