#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --on-full writethrough: create, open and 'stage on-full' set it; status says where writes go.
# kernels: 6.12
# cpus: 1
. ./staged.sh

# writes_pass: do writes of nc go to the origin?
writes_pass() {
	good stage status nc -j
	[[ $(json writes_go_to) == origin ]]
}

make_staged stage-on-full
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force --rate 1M --max-behind 1M \
	--on-full writethrough
bad 1 "on-full 'x': give wait or writethrough" stage on-full nc x
[[ $(dmsetup table nc-stage) == *'on_full writethrough'* ]] || fail "$(dmsetup table nc-stage)"
good stage status nc -j
expect on_full writethrough writes_go_to log passed_bytes 0
# The drain is slow, so the log is full soon; writes that pass are not limited.
fio --name=x --filename=/dev/mapper/nc --rw=write --bs=64k --size=32m --time_based --runtime=600 --direct=1 \
	>"$TMPDIR/fio" 2>&1 &
writer=$!
wait_for 60 writes_pass || fail "writes do not pass: $out"
good stage on-full nc wait -j
expect on_full wait
kill "$writer"
wait "$writer"
good stage drain nc --wait
[[ $(dmsetup table nc-stage) != *on_full* ]] || fail "$(dmsetup table nc-stage)"
good close nc
good open nc --cache "$C" --on-full writethrough
[[ $(dmsetup table nc-stage) == *'on_full writethrough'* ]] || fail "$(dmsetup table nc-stage)"
