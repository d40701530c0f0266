#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dm-clone retries a region that cannot be copied forever, and its copying starves under load. In
# nearcache only a read starts a fill, so a failed fill is retried only by the next read. Blocks
# that fail or hang delay no other block, and other blocks are filled under load.
# kernels: 6.1
# cpus: 1
# when: soak
. ./gate.sh

# tried: number of reads that the origin saw since the last call, in $tries.
tried() {
	gate seen origin
	tries=${REPLY%% *}
}

tries=0 failed=0 commits=0
gates 8 16
between read-only

# One block fails: each read of this block causes at most one fill and one read of the origin.
gate fail origin read 0 128
tried
for i in {1..20}; do
	gate get "$NC" 0 128
	expect EIO
done
gate until nc fills_in_flight = 0
tried
((tries >= 20 && tries <= 40)) || fail "20 reads that fail cost $tries of the origin"
is state 0
is fill_memory 0
is bytes_valid 0
now failed fills_failed_origin
((failed > 0 && failed <= 20)) || fail "$failed fills for 20 reads"

# The origin would now hang on this block. No reader asks for the block while all others are filled
# and committed, which takes seconds: the cache must not retry the failed fill by itself.
gate pass origin
gate hold origin read 0 128
now commits commits
cached 128 16256
gate until nc commits '>' "$commits"
gate held origin 0
more fills_failed_origin "$failed" 0
is bytes_valid $(((8 << 20) - 65536))
dmsetup message nc 0 invalidate 128 16256 || fail "invalidate"

# Readers hang in this and seven more blocks: the other blocks must still be filled and hit.
gate hold origin read 0 1024
for i in {0..7}; do
	gate read "r$i" "$NC" $((i * 128)) 128
done
gate held origin 8
./blockdata read "$NC" -s 8192 -n 4096 >/dev/null || fail "wrong data"
settle_others() {
	[[ $(field fills_in_flight) == 8 ]]
}
wait_for 30 settle_others || fail "fills do not end"
verify_begin -s 8192 -n 4096 -b 8:128 -a 8 -t 4
./blockdata read "$NC" -s 12288 -n 4096 >/dev/null || fail "wrong data"
wait_for 30 settle_others || fail "fills do not end"
is bytes_valid $((4 << 20))
verify_end

# The hanging reads fail at last; the next read of each of these blocks must be a normal miss.
gate pass origin
gate let origin all fail
for i in {0..7}; do
	gate end "r$i"
	[[ $REPLY == EIO || $REPLY == 1x128 ]] || fail "r$i: $REPLY"
done
is state 0
agrees 0 1024 1x1024
is fill_memory 0
is bytes_valid $(((4 << 20) + 8 * 65536))
