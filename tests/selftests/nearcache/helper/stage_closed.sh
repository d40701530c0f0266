#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A log with writes for its origin, whose stage is closed: list --all and metrics show it.
# kernels: 6.12
# cpus: 1
. ./staged.sh

# shown: the log is in the list and in the metrics.
shown() {
	good list --all -j
	json_valid list
	[[ $out == *'"closed_logs": ['*'"name": "nc"'*"\"log\": \"$L\""*"\"origin\": \"$O\""* ]] || return
	good list --all
	[[ $out == *"ORIGIN SHOWS"*"$L"* ]] || fail "list: $out"
	good metrics
	[[ $out == *"nearcache_stage_closed{name=\"nc\",log=\"$L\"} 1"* ]] || fail "metrics: $out"
}

make_staged stage-closed
O=/dev/mapper/slice
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
./blockdata write /dev/mapper/nc -n 16384
! shown || fail "the stage is open: $out"
good close nc --keep
shown || fail "not shown: $out"
good list -j
[[ $out != *closed_logs* ]] || fail "list reads all drives: $out"
good open nc --cache "$C"
! shown || fail "the stage is open again: $out"
good close nc
! shown || fail "all is on the origin: $out"
good metrics
[[ $out != *stage_closed* ]] || fail "metrics: $out"
