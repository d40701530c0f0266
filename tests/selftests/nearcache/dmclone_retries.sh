#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What dm-clone does: a region that cannot be copied is tried for ever, and copying starves
# under load. Here: a fill is tried when somebody reads, and never else; blocks that fail or
# hang hold up no others, and those are filled under load.
# kernels: 6.1
# cpus: 1
. ./gate.sh

# tried: reads that the origin saw since the last time.
tried() {
	gate seen origin
	tries=${REPLY%% *}
}

tries=0 failed=0 commits=0
gates 8 16
between read-only

# One block fails: a read of it is one fill and one try of its own, at most.
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

# From now on it would hang: nobody asks for it again while all the others are filled and
# committed, which takes seconds.
gate pass origin
gate hold origin read 0 128
now commits commits
cached 128 16256
gate until nc commits '>' "$commits"
gate held origin 0
more fills_failed_origin "$failed" 0
is bytes_valid $(((8 << 20) - 65536))
dmsetup message nc 0 invalidate 128 16256 || fail "invalidate"

# Readers hang in it and in others: the rest is filled all the same, while it is read.
gate hold origin read 0 1024
for i in {0..7}; do
	gate read "r$i" "$NC" $((i * 128)) 128
done
gate held origin 8
./blockdata read "$NC" -s 8192 -n 4096 >/dev/null || fail "wrong data"
settle_others() {
	[[ $(field fills_in_flight) == 8 ]]
}
wait_for 30 settle_others || fail "fills hang"
verify_begin -s 8192 -n 4096 -b 8:128 -a 8 -t 4
./blockdata read "$NC" -s 12288 -n 4096 >/dev/null || fail "wrong data"
wait_for 30 settle_others || fail "fills hang"
is bytes_valid $((4 << 20))
verify_end

# They fail at last, and the next read is as good as a first one.
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
