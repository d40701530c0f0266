#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a stage that is opened to be read only: readers see the writes that are only in the log,
# and the drain goes on. Another cache is not opened on the origin meanwhile, not even to be read.
# kernels: 6.12
# cpus: 1
. ./staged.sh

# refuses: a write to nc must fail.
refuses() {
	! ./blockdata write /dev/mapper/nc -n 8 -g 7 2>/dev/null || fail "a write to a read-only device"
}

make_null C2 other 24
make_staged stage-readonly
good create other --origin "$O" --cache "$C2" --block-size 64K --force
good close other
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
./blockdata write /dev/mapper/nc -n 16384
good close nc --keep
bad 5 "holds writes for origin" open other --cache "$C2"
good open nc --cache "$C" --read-only --rate 512K
good stage status nc -j
(($(json behind_bytes) > 1 << 20)) || fail "nothing is behind: $out"
check -n 16384
refuses
good stage rate nc 0
good stage drain nc --wait
./blockdata read "$O" -n 16384 || fail "the drain of a read-only device"
good close nc

# The same without the cache device.
good open nc --cache "$C" --rate 512K
./blockdata write /dev/mapper/nc -n 16384 -g 2
good close nc --keep
run open nc --stage "$L" --read-only
[[ $rc == 0 && $out == *read-only* ]] || fail "open of the stage: $rc, $err, $out"
check -n 16384 -g 2
refuses
good close nc
./blockdata read "$O" -n 16384 -g 2 || fail "close of a read-only pass-through did not drain"
good open other --cache "$C2" --on-change=drop
good close other
blockdev --setro "$O"
bad 4 "is read-only: a stage writes to it" open nc --cache "$C" --read-only
