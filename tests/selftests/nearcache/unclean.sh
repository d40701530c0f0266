#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Starts after a crash. A read-only session must come up warm, except for blocks that were not yet
# committed; a write session without a witness must start cold. Invalidated data must not come back.
# kernels: 6.12
# cpus: 1
. ./cache.sh

# crash: copy the cache device to $X, as after a power cut.
crash() {
	blockdev --flushbufs "$C"
	dd if="$C" of="$X" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
}

# again: start from the copy.
again() {
	start nc '' "$O" "$X"
}

# commit: write the slot table to the medium, by an invalidation of sectors that are not cached.
commit() {
	settle
	dmsetup message nc 0 invalidate 32760 8 || fail "invalidate"
}

committed() {
	(($(field commits) > 0))
}

make_null O origin 16
make_null C local 12
make_null X crashed 12
./blockdata write "$O"
format
start
check -n 8192
settle
wait_for 10 committed || fail "no commit"
same "state on the medium" "$(./sbset "$C" get state)" 2
check -s 8192 -n 4096
commit
valid=$(field bytes_valid)
((valid == 12288 * 512)) || fail "only $valid bytes cached"
crash
# Blocks read now are not committed before the crash, so they are lost.
check -s 12288 -n 128
stop
again
is loaded 5
is pages_damaged 0
is slots_dropped 0
is bytes_valid "$valid"
origin_mark
check -n 12288
same "bytes from the origin" "$(origin_delta)" 0
# The cache works on, with evictions, and is warm again after a stop and after a crash.
check
check -b 8 -r 200
commit
valid=$(field bytes_valid)
stop
again
is loaded 2
is bytes_valid "$valid"
stop

# Crash right after the start, before any read.
format
start
crash
stop
again
is loaded 5
is blocks_used 0
check
stop

# Invalidated data stays invalid: first a part, then all of it.
format
start
check -n 12288
commit
./blockdata write "$O" -g 2 -s 1000 -n 100
dmsetup message nc 0 invalidate 1000 100 || fail "invalidate"
crash
stop
again
is loaded 5
is bytes_valid $((12288 * 512 - 13 * 4096))
./blockdata read /dev/mapper/nc -g 2 -s 1000 -n 100 >/dev/null || fail "stale"
./blockdata read /dev/mapper/nc -g 1 -s 1104 -n 11184 >/dev/null || fail "wrong"
stop
start
./blockdata write "$O" -g 3
dmsetup message nc 0 invalidate all || fail "invalidate all"
crash
./blockdata read /dev/mapper/nc -g 3 -n 4096 >/dev/null || fail "stale"
commit
valid=$(field bytes_valid)
stop
again
is loaded 5
is bytes_valid 0
check -g 3
stop
start
is loaded 2
is bytes_valid "$valid"
check -g 3
stop

# After a crash of a write session, even blocks that were not written must not be trusted.
for MODE in writearound writethrough; do
	format
	start
	check -g 3 -n 8192
	commit
	crash
	stop
	MODE=read-only
	again
	is loaded 3
	is blocks_used 0
	is bytes_valid 0
	check -g 3 -s 16384 -n 16384 -b 8
	commit
	valid=$(field bytes_valid)
	((valid > 0)) || fail "nothing was cached"
	# Then no block of the old slot table comes back, neither after a crash nor after a stop.
	dd if="$X" of="$C" bs=1M iflag=direct oflag=direct 2>/dev/null
	stop
	start
	is loaded 5
	is bytes_valid "$valid"
	check -g 3
	stop
	again
	is loaded 2
	is bytes_valid "$valid"
	check -g 3
	stop
done
