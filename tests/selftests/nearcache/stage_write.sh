#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is written to a stage is read back: at once, from the log, after the log has been full and used
# again many times, after a new start, and in the end from the origin.
# kernels: 6.12
. ./stage.sh

# writes NAME SIZE [fio options]: write and verify the first SIZE bytes of the stage.
writes() {
	fio --name="$1" --filename=/dev/mapper/st --size="$2" --direct=1 --thread --verify=crc32c \
		--verify_fatal=1 --ioengine=libaio --randrepeat=0 "${@:3}" >"$TMPDIR/fio" ||
		fail "$1: $(cat "$TMPDIR/fio")"
}

fresh_stage 48 17
writes small 2m --rw=randwrite --bsrange=512-64k --iodepth=16 --fsync=40
writes large 24m --rw=randwrite --bsrange=4k-1m --iodepth=8
writes sequential 20m --rw=write --bs=256k --iodepth=4
same state "$(stage state)" 0
drop_caches
want=$(sha256sum </dev/mapper/st)
stage_drained
drop_caches
same "content of the origin" "$(sha256sum <"$O")" "$want"
(($(stage retained_bytes) > 4 << 20)) || fail "nothing is retained: $(dmsetup status st)"
same "bytes behind" "$(stage behind_bytes)" 0
((3 * $(stage written_bytes) > 2 * $(stage drained_bytes))) || fail "$(dmsetup status st)"

# Epochs of small writes, each with a checked commit.
writes tiny 1m --rw=randwrite --bsrange=512-16k --iodepth=1 --fsync=3
# A start without an end of the drain, and one after it.
writes again 8m --rw=randwrite --bsrange=4k-64k --iodepth=8
drop_caches
want=$(sha256sum </dev/mapper/st)
for ((i = 0; i < 2; i++)); do
	epoch=$(stage open_epoch)
	stage_stop
	stage_start
	same "content after a start" "$(sha256sum </dev/mapper/st)" "$want"
	(($(stage open_epoch) >= epoch)) || fail "epoch $(stage open_epoch) after $epoch"
	stage_drained
	drop_caches
	same "content of the origin" "$(sha256sum <"$O")" "$want"
done
