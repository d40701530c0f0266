#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a stage in nearcachetab: it opens with its log; without its cache device it passes
# through to the stage, and without its log it does not open.
# kernels: 6.12
# cpus: 1
# when: soak
. ./staged.sh

# lose NAME: remove a null_blk device; it is not removed again at the end.
lose() {
	echo 0 >"/sys/kernel/config/nullb/$1/power"
}

make_staged stage-tab
echo "nc $O $C mode=writeback,stage=$L,rate=512K,max-behind=10m" >"$TMPDIR/tab"
echo "nc $O $C mode=writeback,rate=512K" >"$TMPDIR/short"
echo "nc $O $C mode=writeback" >"$TMPDIR/bare"
echo "nc $O $C mode=writearound" >"$TMPDIR/plain"
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
./blockdata write /dev/mapper/nc -n 16384
good close nc --keep

good open nc --tab "$TMPDIR/tab"
[[ $(dmsetup table nc-stage) == *"rate 524288"*"max_behind_time 600"* ]] || fail "$(dmsetup table nc-stage)"
check -n 16384
good stage status nc -j
expect rate 524288 max_behind_seconds 600
good close --all --keep
good open nc --tab "$TMPDIR/short"
check -n 16384
good close nc --keep

# The cache device is gone: pass through to the stage, and never to the origin without the log.
lose local
run open nc --tab "$TMPDIR/tab"
[[ $rc == 0 && $err == *"passes through to its origin"* ]] || fail "open: $rc, $err"
check -n 16384
good close nc --keep
bad 4 "nothing names the log" open nc --tab "$TMPDIR/bare"
bad 5 "holds writes for origin" open nc --tab "$TMPDIR/plain"
lose log
for words in "" "--mode writearound"; do
	bad 4 "nothing names the log" open nc --tab "$TMPDIR/bare" $words
done
run open nc --tab "$TMPDIR/tab"
[[ $rc == 4 && $err == *"log device"* ]] || fail "open without the log: $rc, $err"
! dmsetup info nc >/dev/null 2>&1 || fail "the origin was opened without the log"
