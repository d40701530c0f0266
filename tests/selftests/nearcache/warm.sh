#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# After a stop the next start must find all cached data: after a remove, after an unload of the
# module, and after the second and third stop.
# kernels: 6.12
# cpus: 1
. ./cache.sh

# restarted VALID: fail unless the cache is warm with VALID bytes.
restarted() {
	is loaded 2
	is bytes_valid "$1"
	is blocks_warm "$(field blocks_used)"
	origin_mark
	check -b 64
	same "origin bytes of a warm cache" "$(origin_delta)" 0
	is pages_damaged 0
	is slots_dropped 0
}

make_null O origin 32
make_null C local 40
./blockdata write "$O"
format
start
is loaded 1
is blocks_used 0
is blocks_warm 0
# Cache a third of the sub-blocks first, so that blocks are partly valid.
check -b 8 -r 2700
settle
valid=$(field bytes_valid)
((valid > 4 << 20 && valid < 24 << 20)) || fail "$valid bytes are valid, expected about a third"
stop
start
is loaded 2
is bytes_valid "$valid"
is blocks_warm "$(field blocks_used)"
check -b 128
settle
is bytes_valid $((32 << 20))
# Each missing sub-block must have been read from the origin once.
is fill_origin_bytes $(((32 << 20) - valid))
stop
start
restarted $((32 << 20))
stop
rmmod dm-nearcache
insmod "$MODULE"
start
restarted $((32 << 20))
