#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A block of the log cannot be read: open names --drop-unreadable, which opens the stage and says what is
# dropped.  The cache above may have these writes, so it is emptied.
# kernels: 6.12
# cpus: 1
. ./staged.sh

make_log_on_drive
make_staged stage-unreadable 24
bad 1 "--drop-unreadable" open --all --drop-unreadable
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force
./blockdata write /dev/mapper/nc -n 8
./blockdata read /dev/mapper/nc -n 8 || fail "the writes are not there"
good close nc --keep
# The first descriptor.
printf '%s\n' "0 2048 linear $drive 2048" "2048 8 error" "2056 $((size - 2056)) linear $drive 4104" |
	dmsetup load log && dmsetup resume log || fail "log"
bad 4 "'nearcache open nc --drop-unreadable'" open nc --cache "$C"
run open nc --cache "$C" --drop-unreadable -j
expect content dropped
[[ $rc == 0 && $err == *"the kernel says: "*"writes from epoch "*" on are dropped"* ]] || fail "open: $rc $err"
[[ $(dmsetup table nc-stage) != *drop_unreadable* ]] || fail "$(dmsetup table nc-stage)"
log_works
./blockdata write /dev/mapper/nc -n 16 -g 2
good close nc
./blockdata read "$O" -n 16 -g 2 || fail "the origin"
good open nc --cache "$C"
good destroy nc
