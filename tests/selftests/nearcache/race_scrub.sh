#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Comparisons of cached data wait for an origin that hangs: blocks that are evicted, written and
# cached again meanwhile must not count as damaged, and hits must go on. A scrub must repair
# unreadable slots and slots that differ from a changed origin, and must not lead to bypass.
# kernels: 6.1
. ./gate.sh
# shellcheck disable=SC2034 # for format
INTEGRITY=crc32c

calm() {
	gate until nc fills_in_flight = 0
}

# fill FIRST LAST: read the blocks FIRST to LAST once.
fill() {
	local block
	for ((block = $1; block <= $2; block++)); do
		gate get "$NC" $((block * 128)) 128
	done
}

# keep FIRST LAST: read these blocks until all of them are cached.
keep() {
	local before after try
	for ((try = 0; try < 50; try++)); do
		now before hits
		fill "$1" "$2"
		calm
		now after hits
		((after - before <= $2 - $1)) || return 0
	done
	fail "blocks $1 to $2 are not all cached: $(dmsetup status nc)"
}

gates 8 3
between writethrough
# Restart, because a cache that started empty retains a random part of the blocks.
cached 128 128
stop
start
at_exit gate_open
dmsetup message nc 0 invalidate all || fail "invalidate"
blocks=$(field blocks)

# The comparison of block 0 is held at the origin. Meanwhile its slot is evicted, and the block is
# written and cached in the same slot again: the comparison must not report damage.
puts 2 0 128
calm
gate hold origin read
dmsetup message nc 0 scrub start 0 origin
gate held origin 1
gate pass origin
fill 1 $((blocks - 1))
gate until nc evictions '>' 0
gate until nc fills_in_flight = 1
puts 3 0 128
gate get "$NC" 0 128
gate until nc fills_in_flight = 1
now hits hits
gets 0 128 3x128
more hits "$hits"
gate let origin all
gate until nc scrub_left = 0
calm
is damaged 0

# Comparisons may use at most half of fill_memory, and hits need none of it.
OPTIONS='6 cache_timeout 0 verify 1 fill_memory 1048576' reload || fail "reload"
keep 1 20
gate hold origin read
now bypassed bypass_memory
for ((i = 1; i <= 20; i++)); do
	gate read "whole$i" "$NC" $((i * 128)) 128
	ends "whole$i" 1x128
	gate read "part$i" "$NC" $((i * 128 + 1)) 3
	ends "part$i" 1x3
done
now held fills_in_flight
((held >= 4)) || fail "only $held comparisons"
more bypass_memory "$bypassed" 0
gate pass origin
gate let origin all
calm
is damaged 0

# Another host changed much of the origin, unreported: a scrub must not call that device errors.
OPTIONS='2 cache_timeout 0' reload || fail "reload"
keep 1 20
for ((i = 1; i <= 20; i++)); do
	gate fill origin 5 $((i * 128)) 8
done
dmsetup message nc 0 scrub start 0 origin
gate until nc scrub_left = 0
calm
is damaged 20
is state 0
now hits hits
for ((i = 1; i <= 20; i++)); do
	gets $((i * 128)) 128 '5x8 1x120'
done
more hits "$hits" 20

# No slot can be read: the scrub must fill all blocks again.
keep 1 20
now valid bytes_valid
gate fail cache read
dmsetup message nc 0 scrub start 0
gate until nc scrub_left = 0
gate pass cache
calm
is state 0
is hit_errors 0
more damaged 20 $((valid / 4096))
is bytes_valid "$valid"
now hits hits
fill 1 20
more hits "$hits" 20
