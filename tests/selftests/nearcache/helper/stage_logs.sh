#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two stages of one origin, one after the other: while the log of one holds writes that the origin
# lacks, the other is not opened, and nothing overwrites that log before it is given up.
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
for device in "--stage $L2 --cache $C1" "--cache $L2"; do
	bad 5 "with writes that its origin lacks" create c --origin "$C2" --block-size 64K $device --force
done
bad 5 "with writes that its origin lacks" create c --origin "$C2" --cache "$C1" --witness "$L2" --force
bad 1 "either NAME" destroy b --stage "$L2"
bad 5 "--abandon-stage loses them" destroy --stage "$L2"
good destroy --stage "$L2" --abandon-stage --dry-run
bad 5 "log '$L2' holds writes for origin" open a --cache "$C1"
good destroy --stage "$L2" --abandon-stage
good open a --cache "$C1" --on-change=drop
bad 5 "in use" destroy --stage "$L1" --abandon-stage
good close a
good destroy --stage "$L1"
bad 4 "carries no log" destroy --stage "$L1"
