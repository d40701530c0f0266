#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache device that cannot absorb the fills does not hold up the readers: far more
# reads than it has written, and than it has requests, are complete.
# kernels: 6.12
. ./cache.sh

make_null O origin 128
# One request at a time, 20 ms each, or more where readers are slow.
make_null C local 160 hw_queue_depth=1 submit_queues=1 completion_nsec=$((20000000 * ${SLOW:-1}))
format
start
before=$(origin_write_ios "$C")
fio --name=x --filename=/dev/mapper/nc --readonly --rw=randread --bs=4k --direct=1 --ioengine=libaio \
	--iodepth=300 --number_ios=300 --size=128M >"$TMPDIR/fio" || fail "$(<"$TMPDIR/fio")"
written=$(($(origin_write_ios "$C") - before))
echo "300 reads are complete, the cache device has done $written writes"
# When readers waited for it, it would have done more than half of them.
((written < 100)) || fail "$written writes were waited for"
above misses 200
settle
is fills_failed_cache 0
