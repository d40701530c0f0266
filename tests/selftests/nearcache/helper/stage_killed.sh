#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a stage that loses its cache device, or the run of the command that opens or closes it:
# the stage keeps all writes.
# kernels: 6.12
# cpus: 1
# when: soak
. ./staged.sh

waits() {
	grep -qs dm_wait_event "/proc/$1/stack"
}

make_staged stage-killed
./blockdata write "$O" -g 3

# A run that is killed leaves the stage: the next open or close uses it.
create_behind
# The process itself, not a shell that runs the function.
env nearcache close nc 2>/dev/null &
closing=$!
wait_for 30 waits "$closing" || fail "close does not wait for the drain"
kill "$closing"
! wait "$closing" || fail "close ended well"
check -n 16384
dmsetup remove --noudevsync nc
good open nc --cache "$C" --rate 0
check -n 16384
dmsetup remove --noudevsync nc
good stage rate nc 0
good close nc
./blockdata read "$O" -n 16384 || fail "close of the stage alone did not drain"

# The cache device is lost: the stage is opened without it.
create_behind
good close nc --keep
run open nc --stage "$L"
[[ $rc == 0 && $err == *"without a cache"* ]] || fail "open of the stage: $rc, $err"
check -n 16384
good close nc
./blockdata read "$O" -n 16384 || fail "close of the pass-through did not drain"
good open nc --cache "$C"
check -n 16384
good close nc
