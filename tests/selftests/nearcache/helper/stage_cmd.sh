#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a stage: create, close and open with writes in the log, drain, destroy.
# kernels: 6.12
# cpus: 1
. ./staged.sh

make_staged stage-cmd
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force --rate 512K -j
expect mode writearound
./blockdata write /dev/mapper/nc -n 16384
bad 5 "in the log are not on the origin yet" destroy nc
good close nc --keep
! dmsetup info nc-stage >/dev/null 2>&1 || fail "close left the stage"
run create other --origin "$O" --cache "$C" --force --dry-run
[[ $rc == 5 && $err == *"holds writes for origin"* ]] || fail "another cache: exit $rc, $err"
good open nc --cache "$C"
check -n 16384
good stage drain nc --wait
./blockdata read "$O" -n 16384 || fail "the origin lacks what was drained"
./blockdata write /dev/mapper/nc -n 16384 -g 2
good close nc
./blockdata read "$O" -n 16384 -g 2 || fail "close did not drain"
good destroy --cache "$C"
