#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes that overlap while they are in flight: log, log after a start, and origin show the same.
# when: soak
. ./stage.sh

# overlaps: writers that overlap in 1 MiB, with flushes and discards between them.
overlaps() {
	fio --name=global --filename=/dev/mapper/st --size=1m --direct=1 --thread --ioengine=libaio --iodepth=32 --norandommap \
		--randrepeat=0 --loops=2 --group_reporting --name=small --rw=randwrite --bsrange=512-16k --fsync=30 \
		--numjobs=2 --name=large --rw=randwrite --bsrange=32k-256k --name=trim --rw=randtrim \
		--bs=4k >"$TMPDIR/fio" 2>&1 || fail "fio: $(<"$TMPDIR/fio")"
}

make_null O origin 8 discard=1
make_null L log 24
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
stage_start 'rate 2097152'
for ((i = 0; i < 3; i++)); do
	overlaps
	drop_caches
	want=$(sha256sum </dev/mapper/st)
	stage_stop
	stage_start
	same "content after a start" "$(sha256sum </dev/mapper/st)" "$want"
	stage_drained
	drop_caches
	same "content of the log" "$(sha256sum </dev/mapper/st)" "$want"
	same "content of the origin" "$(sha256sum <"$O")" "$want"
	dmsetup message st 0 set rate 2097152
done
