#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache drive hangs under readers, which must get their data from the origin. After the driver
# has reset the drive, the cache must use it again. Then the drive hangs once more and is pulled.
# when: soak
# kernels: 6.1
# timeout: 300
. ./cache.sh
. ./command.sh
. ./drive.sh
# The NVMe driver freezes the queue in one worker and thaws it in another, which lockdep reports.
[[ ! -e /proc/lockdep ]] || skip "lockdep reports how the NVMe driver resets a drive"

state_is() {
	[[ $(field state) == "$1" ]]
}

read_on() {
	./blockdata read /dev/mapper/nc -n 4096 >/dev/null || fail "wrong data"
	state_is "$1"
}

make_null O origin 16
need_drive
at_exit dm_gone nc
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K --cache-timeout 300 --force
check
settle
written_down
verify_begin -b 8 -a 1 -t 4
hang 3000
wait_for 30 state_is 3 || fail "not degraded: $(dmsetup status nc)"
good status nc
[[ $out == *degraded*'does not answer'* ]] || fail "status: $out"
good status nc -j
expect state degraded reason slow
bad 5 "recovers by itself" attach nc
check -n 2048
# Wait long: the emulated drive may lose requests again after a reset and need several resets.
patience 1000
wait_for 150 read_on 0 || fail "the drive does not come back: $(dmsetup status nc)"
hang 1000
wait_for 30 state_is 3 || fail "not degraded: $(dmsetup status nc)"
pull
wait_for 60 read_on 1 || fail "not bypassed: $(dmsetup status nc)"
plug
good attach nc --cache "$C" -j
expect state normal loaded recovered
verify_end
hits=$(field hits)
check
above hits "$hits"
good close nc
