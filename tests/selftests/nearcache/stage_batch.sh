#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The drain writes epochs to the origin without a flush between them, if no flush ended between them:
# rule D5. Otherwise the origin is flushed, and has nothing of the later epoch before.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# An epoch has 4 MiB, and is drained by 128 copies, of which at most 64 are in flight.
LONG=8192
OPTIONS='2 max_behind 16777216'
# Epochs of one case begin at these sectors; the first two overlap.
FIRST=20480 SECOND=24576 THIRD=4096
generation=2

# begin: from now on, the drain cannot end an epoch.
begin() {
	gate hold origin write
	before=$(stage committed_epoch)
	: $((generation += 4))
}

# epoch NUMBER SECTOR [COUNT]: write to the open epoch; with LONG sectors, this closes it.
epoch() {
	puts $((generation + $1)) "$2" "${3:-$LONG}"
}

# closed COUNT: wait until so many epochs are committed since begin.
closed() {
	stage_until committed_epoch $((before + $1))
	same "committed epochs" "$(stage committed_epoch)" $((before + $1))
}

# at_origin NUMBER SECTOR: the origin has this epoch's version.
at_origin() {
	gate look origin "$2" 64
	[[ $REPLY == "$((generation + $1))x64" ]]
}

# release: let the drain go on to its next flush.
release() {
	gate seen origin
	gate pass origin
	gate hold origin flush
	gate let origin all
	gate held origin 1
	expect 'flush 0+65536'
}

# flushed: let the flush of the origin end, and the drain go on to the next one.
flushed() {
	gate let origin 0
	gate held origin 1
	expect 'flush 0+65536'
}

# ended: let the last flush end.
ended() {
	gate pass origin
	gate let origin 0
	stage_drained
}

# apart: the drain flushes the origin between the first epoch and the second one.
apart() {
	release
	at_origin 1 $FIRST || fail "the first epoch is not on the origin: $REPLY"
	! at_origin 2 $((SECOND + 4096)) || fail "the second epoch is on the origin before a flush"
	same "drained epoch" "$(stage drained_epoch)" "$before"
	flushed
	at_origin 2 $((SECOND + 4096)) || fail "the second epoch is not on the origin: $REPLY"
	same "drained epoch" "$(stage drained_epoch)" $((before + 1))
	ended
	gate look origin $FIRST $((LONG + 4096))
	expect "$((generation + 1))x4096 $((generation + 2))x8192"
}

gate_start
gate device origin 32 flush
O=$REPLY
gate device log 64 flush fua
L=$REPLY
NC=/dev/mapper/st
gate fill origin 1 0 65536
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
at_exit stage_gates_open
stage_start "${OPTIONS#* }"

# Two epochs are a batch; a third one of this length is too much.
begin
epoch 1 $FIRST
epoch 2 $SECOND
epoch 3 $THIRD
closed 3
# The last copy of the first epoch is slow: the second one writes all but these sectors.
gate seen origin
gate pass origin
gate hold origin write $((FIRST + LONG - 64)) 64
gate hold origin flush
gate let origin all
wait_for 30 at_origin 2 $((FIRST + LONG - 1024)) || fail "the second epoch is not drained: $REPLY"
gate held origin 1
[[ $REPLY == write* ]] || fail "held: $REPLY"
gate let origin last
gate held origin 1
[[ $REPLY == write* ]] || fail "held: $REPLY"
at_origin 1 $((FIRST + LONG - 64)) || fail "before the copy of the second epoch: $REPLY"
gate let origin all
gate held origin 1
expect 'flush 0+65536'
at_origin 2 $((FIRST + LONG - 64)) || fail "after the copy of the second epoch: $REPLY"
! at_origin 3 $THIRD || fail "the batch is too long"
same "drained epoch" "$(stage drained_epoch)" "$before"
flushed
same "drained epoch" "$(stage drained_epoch)" $((before + 2))
at_origin 3 $THIRD || fail "the third epoch is not on the origin: $REPLY"
# Each copy of the superblock has the mark of the whole batch: no start would repeat it over the third.
gate keep log
origin_fails
stage_stop
for offset in 4096 8192; do
	gate restore log
	dd if=/dev/zero of="$L" bs=4096 count=1 seek="$offset" oflag=seek_bytes,direct 2>/dev/null || fail "dd"
	gate pass origin
	gate hold origin write
	stage_start "${OPTIONS#* }"
	same "drained epoch without the copy at $offset" "$(stage drained_epoch)" $((before + 2))
	origin_fails
	stage_stop
done
gate pass origin
stage_start "${OPTIONS#* }"
stage_drained

# A flush that ends with the commit of the first epoch.
begin
epoch 1 $FIRST 6144
gate flush f $NC
ends f 'done'
closed 1
epoch 1 $((FIRST + 6144)) 2048
epoch 2 $SECOND 6144
closed 2
release
! at_origin 2 $((SECOND + 4096)) || fail "the second epoch is on the origin before a flush"
flushed
ended

# A flush that comes when the first epoch is committed, and the next one has no entry.
begin
epoch 1 $FIRST
closed 1
gate flush f $NC
ends f 'done'
epoch 2 $SECOND
closed 2
apart

# A write with FUA.
begin
epoch 1 $FIRST 6144
gate write w $NC $((generation + 1)) $((FIRST + 6144)) 2048 sync
ends w 'done'
closed 1
epoch 2 $SECOND
closed 2
apart

# The message 'commit'.
begin
epoch 1 $FIRST 8128
stage_commit >/dev/null
epoch 1 $((FIRST + 8128)) 64
epoch 2 $SECOND 8128
closed 2
release
! at_origin 2 $((SECOND + 4096)) || fail "the second epoch is on the origin before a flush"
flushed
ended

# The second epoch writes to the fingerprint of the origin.
begin
epoch 1 $FIRST
closed 1
epoch 2 0 8
epoch 2 $SECOND
closed 2
apart

# Writers wait for room.
begin
epoch 1 $FIRST
epoch 2 $SECOND
closed 2
gate write w $NC $((generation + 3)) $THIRD 8192
gate write v $NC $((generation + 3)) $((THIRD + 8192)) 8192
gate write u $NC $((generation + 3)) 40960 8192
stage_until waiting 1
release
! at_origin 2 $((SECOND + 4096)) || fail "a batch goes on while a writer waits"
gate pass origin
gate let origin all
for id in w v u; do
	ends $id 'done'
done
stage_drained

# After a start, nobody knows of the flushes before it.
begin
epoch 1 $FIRST
epoch 2 $SECOND
closed 2
origin_fails
stage_stop
gate pass origin
gate fill origin $generation 4096 45056
gate hold origin write
stage_start "${OPTIONS#* }"
epoch 3 $THIRD
closed 3
release
! at_origin 2 $((SECOND + 4096)) || fail "the second epoch is on the origin before a flush"
flushed
at_origin 2 $((SECOND + 4096)) || fail "the second epoch is not on the origin: $REPLY"
! at_origin 3 $THIRD || fail "the third epoch is on the origin before a flush"
flushed
ended
