#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reads over every pattern of valid and missing sub-blocks return the right data, and fetch exactly
# the missing sub-blocks from the origin.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# enumerate all|random BLOCK SUBBLOCK CELLS SEED: run these cells of subblocks.c.
enumerate() {
	local before missing shape populated
	populated=$(./subblocks populate "$1" /dev/mapper/nc "${@:2}") || fail "populate: $populated"
	settle
	is bytes_valid $((populated * $3))
	origin_mark
	missing=$(./subblocks read "$1" /dev/mapper/nc "${@:2}") || fail "read: $missing"
	settle
	same "origin bytes, $* ($missing sub-blocks missing)" "$(origin_delta)" $((missing * $3))
	is bytes_valid $(((populated + missing) * $3))
	# All that the reads missed is cached now: the same reads must only hit.
	origin_mark
	before=$(field hit_bytes)
	shape=$(./subblocks shape "$1" /dev/mapper/nc "${@:2}") || fail "again: $shape"
	same "origin bytes of the second time" "$(origin_delta)" 0
	(($(field hit_bytes) > before && missing > 0 && shape > missing)) ||
		fail "no missing sub-block was tested"
	echo "$*: $populated valid, $missing missing of $shape read"
}

make_null O origin 192
make_null C local 224
./blockdata write "$O" -n $((320 * 3 * 128))
format
start
enumerate all 65536 4096 0 0
stop
for ((seed = 1; seed <= $(times 2); seed++)); do
	format
	start
	enumerate random 65536 4096 60 "$seed"
	stop
	format "$C" "$O" 256K
	start
	enumerate random 262144 4096 16 "$seed"
	stop
done
format "$C" "$O" 1M
start
enumerate random 1048576 16384 8 1
