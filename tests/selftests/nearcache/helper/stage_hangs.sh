#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log device of a closed stage does not answer: the commands name it, and the log can be given up.
# When it is back, it is wiped alone.
# kernels: 6.12
# cpus: 1
# when: soak
. ./staged.sh

make_log_on_drive
make_staged stage-hangs
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
./blockdata write /dev/mapper/nc -n 16384
good close nc --keep
becomes log "0 $size delay $drive 2048 8000 $drive 2048 0"
bad 4 "does not answer, and may carry the log" open nc --cache "$C"
bad 4 "does not answer, and may carry the log" destroy --cache "$C"
run open nc --cache "$C" --abandon-stage --origin "$O" --mode writearound
[[ $rc == 0 && $err == *"given up and not wiped"* ]] || fail "open: exit $rc, $err"
good close nc
run open nc --cache "$C" --mode writearound
[[ $rc == 0 && $err == *"does not answer: if it carries a log"* ]] || fail "open: exit $rc, $err"
good close nc
log_works
bad 5 "destroy --stage $L --abandon-stage" open nc --cache "$C" --mode writearound
good destroy --stage "$L" --abandon-stage
good open nc --cache "$C" --mode writearound
good destroy nc
