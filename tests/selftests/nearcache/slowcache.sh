#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache device too slow for the fills must not delay readers: while none of its writes completes,
# far more reads must complete than the queue of the cache device has requests.
# kernels: 6.12
. ./gate.sh

over() {
	! kill -0 "$reader" 2>/dev/null
}

gates 16 24
format
start
at_exit gate_open
echo 4 >"$(sys_block "$C")/queue/nr_requests" || fail "nr_requests"
gate hold cache write
gate seen cache
fio --name=x --filename="$NC" --readonly --rw=randread --bs=4k --direct=1 --ioengine=libaio \
	--iodepth=300 --number_ios=300 --size=16M >"$TMPDIR/fio" &
reader=$!
wait_for 60 over || fail "readers wait for the cache device"
wait $reader || fail "$(<"$TMPDIR/fio")"
above misses 200
above fills_in_flight 200
gate seen cache
read -r _ writes _ <<<"$REPLY"
echo "300 reads are complete, $writes writes stand at the cache device"
((writes > 0 && writes < 100)) || fail "$writes writes"
gate_open
settle
is fills_failed_cache 0
above fills 200
