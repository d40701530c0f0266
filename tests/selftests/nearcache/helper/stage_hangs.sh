#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log device of a closed stage does not answer: the commands name it, and the log can be given up.
# When it is back, it is wiped alone.
# kernels: 6.12
# cpus: 1
# when: soak
. ./cache.sh
. ./command.sh

gone() {
	dm_gone nc
	dm_gone nc-stage
}

make_null base base 64
make_null C local 24
make_null drive drive 32
# The drive itself answers, and must not show the log: leave out its first MiB.
size=$(($(sectors "$drive") - 2048))
make_dm L log "0 $size linear $drive 2048"
make_dm O slice "0 $(sectors "$base") linear $base 0" --uuid stage-hangs
at_exit gone
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
becomes log "0 $size linear $drive 2048"
bad 5 "destroy --stage $L --abandon-stage" open nc --cache "$C" --mode writearound
good destroy --stage "$L" --abandon-stage
good open nc --cache "$C" --mode writearound
good destroy nc
