#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A block of the log cannot be read: open names --drop-unreadable, which opens the stage and says what is
# dropped.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./command.sh

gone() {
	gate pass log
	dm_gone nc
	dm_gone nc-stage
}

make_null base base 24
make_null C local 24
gate_start
gate device log 32 flush fua
L=$REPLY
make_dm O slice "0 $(sectors "$base") linear $base 0" --uuid stage-unreadable
at_exit gone
bad 1 "--drop-unreadable" open --all --drop-unreadable
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force
./blockdata write /dev/mapper/nc -n 8
good close nc --keep
gate fail log read 2048 8
bad 4 "'nearcache open nc --drop-unreadable'" open nc --cache "$C" --stage "$L"
run open nc --cache "$C" --stage "$L" --drop-unreadable
[[ $rc == 0 && $err == *"the kernel says: "*"writes from epoch "*" on are dropped"* ]] || fail "open: $rc $err"
[[ $(dmsetup table nc-stage) != *drop_unreadable* ]] || fail "$(dmsetup table nc-stage)"
gate pass log
./blockdata write /dev/mapper/nc -n 16 -g 2
good close nc
./blockdata read "$O" -n 16 -g 2 || fail "the origin"
good open nc --cache "$C" --stage "$L"
good destroy nc
