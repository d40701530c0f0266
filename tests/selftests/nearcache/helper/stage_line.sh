#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The line of nearcachetab still names a stage that was given up: 'open' opens the cache without the
# stage, and tells the user to change the line.
# kernels: 6.12
# cpus: 1
. ./staged.sh

make_staged stage-line
echo "nc $O $C mode=writeback,stage=$L,rate=512K,max-behind=10m" >"$TMPDIR/tab"
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
./blockdata write /dev/mapper/nc -n 16384
good close nc --keep
./blockdata write "$O" -n 8 -g 9
run open nc --tab "$TMPDIR/tab" --abandon-stage
[[ $rc == 0 && $err == *"line 1 of '$TMPDIR/tab' names one: take stage="* ]] || fail "open: $rc, $err"
check -n 8 -g 9
good close nc
bad 1 "has no stage" open nc --tab "$TMPDIR/tab" --stage "$L"
run open nc --tab "$TMPDIR/tab"
[[ $rc == 0 && $err == *"has no stage any more, but line 1"* ]] || fail "the next open: $rc, $err"
! dmsetup info nc-stage >/dev/null 2>&1 || fail "a stage runs"
check -n 8 -g 9
./blockdata write /dev/mapper/nc -n 8 -g 3 || fail "nc is not writable"
good close nc
sed -i 's/,stage.*//' "$TMPDIR/tab"
sed -i 's/writeback/writearound/' "$TMPDIR/tab"
good open nc --tab "$TMPDIR/tab"
good destroy nc
