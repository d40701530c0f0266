#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a stage that loses its cache device, or the run of the command that opens or closes it:
# the stage keeps all writes.
# kernels: 6.12
# cpus: 1
# when: soak
. ./cache.sh
. ./command.sh

gone() {
	dm_gone nc
	dm_gone nc-stage
}

# staged WORDS...: create the cache, write 8 MiB of generation 1 that is drained slowly.
staged() {
	good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K "$@"
	./blockdata write /dev/mapper/nc -n 16384
	sync
}

waits() {
	grep -qs dm_wait_event "/proc/$1/stack"
}

make_null base base 64
make_null C local 24
make_null L log 32
make_dm O slice "0 $(sectors "$base") linear $base 0" --uuid stage-killed
./blockdata write "$O" -g 3
at_exit gone

# A run that is killed leaves the stage: the next open or close uses it.
staged
nearcache close nc 2>/dev/null &
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
staged
good close nc --keep
run open nc --stage "$L"
[[ $rc == 0 && $err == *"without a cache"* ]] || fail "open of the stage: $rc, $err"
check -n 16384
good close nc
./blockdata read "$O" -n 16384 || fail "close of the pass-through did not drain"
good open nc --cache "$C"
check -n 16384
good close nc
