#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two stages of one origin, one after the other: while the log of one holds writes that the origin
# lacks, the other is not opened.
# kernels: 6.12
# cpus: 1
# when: soak
. ./cache.sh
. ./command.sh

gone() {
	dm_gone a
	dm_gone a-stage
	dm_gone b
	dm_gone b-stage
}

make_null base base 64
make_null C1 local1 24
make_null C2 local2 24
make_null L1 log1 32
make_null L2 log2 32
make_dm O slice "0 $(sectors "$base") linear $base 0" --uuid stage-logs
at_exit gone
new=(--origin "$O" --block-size 64K --force --rate 512K)
good create a "${new[@]}" --cache "$C1" --stage "$L1"
good close a
good create b "${new[@]}" --cache "$C2" --stage "$L2"
./blockdata write /dev/mapper/b -s 40000 -n 16384
good close b --keep
bad 5 "log '$L2' holds writes for origin" open a --cache "$C1"
! dmsetup info a-stage >/dev/null 2>&1 || fail "the stage of a runs"
