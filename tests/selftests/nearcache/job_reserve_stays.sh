#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Slots that reclaim freed for a slow job stay reserved for jobs. If reads that miss took them, reclaim
# would evict cached blocks for the job again.
# kernels: 6.12
# cpus: 1
. ./planned.sh

BLOCK=65536 FIRST=1024 OTHER=1300 ROUNDS=50

brought() {
	(($(field prefetched_bytes) >= $1 * BLOCK))
}

# hits_of BLOCKS: read the first BLOCKS blocks of the device, and print how many of them hit.
hits_of() {
	local hits
	hits=$(field hit_bytes)
	./blockdata read $NC -n $(($1 * BLOCK / 512)) >/dev/null || fail "wrong data"
	settle
	echo $((($(field hit_bytes) - hits) / BLOCK))
}

make_null O origin 100
make_null C small 65
./blockdata write "$O"
format
start
slots=$(field blocks)
# Fill the cache. Restart it, because one that started empty retains a random part of the blocks.
cached=$((slots - slots / 32))
hits_of $cached >/dev/null
stop
start
before=$(hits_of $cached)
echo "$before of $cached blocks cached in $slots slots"
((before >= cached * 9 / 10)) || fail "not filled"
# The job brings eight blocks per second. The reader waits for each of them, then reads it and another
# block, which misses.
ask job-submit name=nc "range=start=$((FIRST * BLOCK)),length=$((200 * BLOCK))" "job=bandwidth=$((8 * BLOCK))"
full=''
for ((i = 0; i < ROUNDS; i++)); do
	wait_for 30 brought $((i + 1)) || fail "the job has brought only $(field prefetched_bytes) bytes"
	visit $(((FIRST + i) * BLOCK)) $(((OTHER + i) * BLOCK))
	[[ $full || $(field bypass_full) == 0 ]] || full=$i misses=$(field misses)
done
[[ $full ]] || fail "the cache did not get full"
((full < ROUNDS / 2)) || fail "the cache got full only after $((full + 1)) rounds"
took=$(($(field misses) - misses))
echo "full after $((full + 1)) rounds; of $((ROUNDS - full - 1)) later reads of other blocks, $took got a slot"
((took <= 2)) || fail "slots of the reserve were taken"
ask job-cancel name=nc
settle
stop
