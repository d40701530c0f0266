#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A device is removed while the stream of a plan has reads in flight at the origin: the removal waits for
# them, also for one that fails, and the module stays in use until then.
# kernels: 6.12
# cpus: 1
. ./gate.sh

# removing: does the removal wait for fills?
removing() {
	grep -qw nc_fill_drain "/proc/$remover/stack"
}

gates 8 16
between read-only
gate hold origin read
./genl plan-submit name=nc range=length=65536,start=655360 range=length=65536,start=196608 \
	range=length=65536,start=786432 plan=commit=1 >/dev/null || fail "plan-submit"
gate held origin 3
dmsetup remove --noudevsync nc &
remover=$!
wait_for 30 removing || fail "the removal does not wait: $(<"/proc/$remover/stack")"
gate let origin 0 fail
! rmmod dm-nearcache 2>/dev/null || fail "the module was in use"
removing || fail "the removal waits for one read only"
gate_open
wait $remover || fail "the removal failed"
rmmod dm-nearcache || fail "the module is in use"
insmod "$MODULE" || fail "insmod"
start
agrees 0 2048 1x2048
stop
