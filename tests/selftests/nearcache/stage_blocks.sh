#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Logical blocks of 4096 bytes, of the origin, of the log, or of both: the stage has the larger ones.
# when: soak
# cpus: 1
. ./stage.sh

round=0
for sizes in '4096 4096' '512 4096' '4096 512'; do
	round=$((round + 1))
	make_loop O 12 "${sizes% *}"
	make_loop L 20 "${sizes#* }"
	./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
	((round > 1)) || at_exit stage_stop
	stage_start
	same "logical blocks with $sizes" "$(blockdev --getss /dev/mapper/st)" 4096
	fio --name=x --filename=/dev/mapper/st --rw=randwrite --bsrange=4k-256k --size=4m --direct=1 --thread --ioengine=libaio \
		--iodepth=8 --fsync=20 --verify=crc32c --verify_fatal=1 >"$TMPDIR/fio" 2>&1 || fail "fio: $(<"$TMPDIR/fio")"
	blkdiscard -o 4096 -l 40960 /dev/mapper/st || fail "blkdiscard"
	drop_caches
	want=$(sha256sum </dev/mapper/st)
	stage_restart
	same "content after a start with $sizes" "$(sha256sum </dev/mapper/st)" "$want"
	stage_drained
	same state "$(stage state)" 0
	drop_caches
	same "content of the origin with $sizes" "$(sha256sum <"$O")" "$want"
	stage_stop
done
