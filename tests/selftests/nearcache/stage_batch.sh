#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The drain writes epochs to the origin without a flush between them, if no FLUSH ended between them:
# rule D5. Otherwise it flushes the origin before it writes any data of the later epoch.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# An epoch is closed when it has 512 blocks: its descriptor, a block, and LONG sectors. It is drained by
# 65 copies, of which at most 64 are in flight.
LONG=4080
# The other block of epochs from the second on.
OTHER=60000
OPTIONS='2 max_behind 8388608'
# Epochs of one case begin at these sectors; the first two overlap.
FIRST=20480 SECOND=22528 THIRD=4096
# The last copy of the first epoch.
LAST=$((FIRST + LONG - 48))
generation=2
# Seconds after which the stage commits an open epoch by itself.
COMMIT_AGE=5

# case_of FUNCTION: run it in a subshell. Where the machine stands still, the stage commits an epoch by
# its age, and has other epochs than the case expects: then run the case again.
case_of() {
	local started failed try
	for ((try = 1; try <= 5; try++)); do
		: $((generation += 4))
		started=$SECONDS failed=0
		set +e
		(set -e && "$1")
		failed=$?
		set -e
		((failed)) || return 0
		((SECONDS - started >= COMMIT_AGE)) || break
		echo "# $1 failed after $((SECONDS - started)) s"
		stage_gates_open
		stage_restart "${OPTIONS#* }"
		stage_drained
	done
	fail "$1"
}

# begin: hold all writes to the origin, so that the drain ends no epoch. As the first epoch touches the
# fingerprint, its drain reads the origin first: this is held as well, so that no batch begins.
begin() {
	gate hold origin read 0 8
	gate hold origin write
	before=$(stage committed_epoch)
	retries=$(stage retries)
	epoch 1 0 8
	gate seen origin
}

# epoch NUMBER SECTOR [COUNT]: write COUNT sectors to the open epoch; without COUNT, write as many as
# close it.
epoch() {
	local open=$(($(stage open_epoch) + 1))
	if [[ ${3:-} ]]; then
		puts $((generation + $1)) "$2" "$3"
		return
	fi
	(($1 == 1)) || puts $((generation + $1)) $OTHER 8
	puts $((generation + $1)) "$2" $LONG
	stage_until open_epoch $open
}

# committed COUNT: wait until COUNT epochs are committed since begin, and the drain of the first begins.
committed() {
	gate held origin 1
	expect 'read 0+8'
	stage_until committed_epoch $((before + $1))
	same "committed epochs" "$(stage committed_epoch)" $((before + $1))
}

# at_origin NUMBER SECTOR [COUNT]: the origin has this epoch's version.
at_origin() {
	gate look origin "$2" "${3:-64}"
	[[ $REPLY == "$((generation + $1))x${3:-64}" ]]
}

# flush_held: wait until the drain flushes the origin.
flush_held() {
	gate held origin 1
	expect 'flush 0+65536'
}

# release: let the drain go on to its next flush.
release() {
	gate pass origin
	gate hold origin flush
	gate let origin all
	flush_held
}

# flushed: let the flush of the origin end, and the drain go on to the next one.
flushed() {
	gate let origin 0
	flush_held
}

# ended: let the last flush end.
ended() {
	gate pass origin
	gate let origin 0
	stage_drained
}

# flushed_between: let the drain go on to its first flush: it has written nothing of the second epoch.
# Then let it go on to the next flush.
flushed_between() {
	release
	! at_origin 2 $((SECOND + 2048)) || fail "the second epoch is on the origin before a flush"
	flushed
}

# apart: the drain flushes the origin between the first epoch and the second one.
apart() {
	release
	at_origin 1 $FIRST || fail "the first epoch is not on the origin: $REPLY"
	! at_origin 2 $((SECOND + 2048)) || fail "the second epoch is on the origin before a flush"
	same "drained epoch" "$(stage drained_epoch)" "$before"
	flushed
	at_origin 2 $((SECOND + 2048)) || fail "the second epoch is not on the origin: $REPLY"
	same "drained epoch" "$(stage drained_epoch)" $((before + 1))
	ended
	gate look origin $FIRST $((LONG + 2048))
	expect "$((generation + 1))x2048 $((generation + 2))x$LONG"
}

# Two epochs are a batch; a third one of this length is too much.
batch() {
	begin
	epoch 1 $FIRST
	epoch 2 $SECOND
	epoch 3 $THIRD
	committed 3
	# The gate holds the last copy of the first epoch. Meanwhile the drain writes the second epoch, except
	# the sectors of that copy.
	gate pass origin
	gate hold origin write $LAST 48
	gate hold origin flush
	gate let origin all
	wait_for 30 at_origin 2 $((FIRST + LONG - 1024)) || fail "the second epoch is not drained: $REPLY"
	gate held origin 1
	[[ $REPLY == write* ]] || fail "held: $REPLY"
	gate let origin last
	gate held origin 1
	[[ $REPLY == write* ]] || fail "held: $REPLY"
	at_origin 1 $LAST 48 || fail "before the copy of the second epoch: $REPLY"
	gate let origin all
	flush_held
	at_origin 2 $LAST 48 || fail "after the copy of the second epoch: $REPLY"
	! at_origin 3 $THIRD || fail "the batch is too long"
	same "drained epoch" "$(stage drained_epoch)" "$before"
	flushed
	same "drained epoch" "$(stage drained_epoch)" $((before + 2))
	at_origin 3 $THIRD || fail "the third epoch is not on the origin: $REPLY"
	# Each copy of the superblock has the mark of the whole batch: so a start does not drain the batch again
	# over the third epoch.
	gate keep log
	origin_fails
	stage_stop
	for offset in 4096 524288; do
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
}

# A flush that ends with the commit of the first epoch.
flush_with_commit() {
	begin
	epoch 1 $FIRST 3072
	gate flush f $NC
	ends f 'done'
	committed 1
	epoch 1 $((FIRST + 3072)) 1016
	epoch 2 $SECOND 3072
	committed 2
	flushed_between
	ended
}

# A flush that comes when the first epoch is committed, and the next one has no entry.
flush_after_commit() {
	begin
	epoch 1 $FIRST
	committed 1
	gate flush f $NC
	ends f 'done'
	epoch 2 $SECOND
	committed 2
	apart
}

# A write with FUA. The flush that the kernel sends after it comes when the next epoch has an entry.
fua() {
	begin
	gate hold log write
	gate write w $NC $((generation + 1)) $FIRST 64 sync
	gate held log 1
	open=$(stage open_epoch)
	gate write p $NC $((generation + 1)) $((FIRST + 64)) $((LONG - 64))
	stage_until open_epoch $((open + 1))
	# The blocks of the first epoch with two descriptors, one descriptor, and these sectors.
	gate write q $NC $((generation + 2)) $((SECOND + 2048)) 64
	stage_until behind_bytes $(((1 + 1 + LONG / 8 + 1 + 8) * 4096))
	gate pass log
	gate let log all
	for id in w p q; do
		ends $id 'done'
	done
	committed 2
	flushed_between
	at_origin 2 $((SECOND + 2048)) || fail "the second epoch is not on the origin: $REPLY"
	ended
}

# The message 'commit'.
message() {
	begin
	epoch 1 $FIRST 4016
	stage_commit >/dev/null
	epoch 1 $((FIRST + 4016)) 64
	epoch 2 $SECOND 4024
	committed 2
	flushed_between
	ended
}

# The second epoch writes to the fingerprint of the origin.
fingerprint() {
	begin
	epoch 1 $FIRST
	committed 1
	epoch 2 0 8
	epoch 2 $SECOND $LONG
	committed 2
	apart
}

# Writers wait for room.
waiting() {
	begin
	epoch 1 $FIRST
	epoch 2 $SECOND
	committed 2
	gate write w $NC $((generation + 3)) $THIRD 4096
	gate write v $NC $((generation + 3)) $((THIRD + 4096)) 4096
	gate write u $NC $((generation + 3)) 40960 4096
	stage_until waiting 1
	release
	! at_origin 2 $((SECOND + 2048)) || fail "a batch goes on while a writer waits"
	gate pass origin
	gate let origin all
	for id in w v u; do
		ends $id 'done'
	done
	stage_drained
}

# A discard of the second epoch waits for a copy of the first one as well.
discard() {
	begin
	epoch 1 $FIRST
	gate trim z $NC $LAST 48
	ends z 'done'
	epoch 2 $THIRD
	committed 2
	gate pass origin
	gate hold origin write $LAST 48
	gate hold origin flush
	gate let origin all
	wait_for 30 at_origin 2 $((THIRD + LONG - 48)) 48 || fail "the second epoch is not drained: $REPLY"
	gate held origin 1
	[[ $REPLY == write* ]] || fail "held: $REPLY"
	gate pass origin
	gate hold origin flush
	gate let origin all
	flush_held
	ended
	gate look origin $((LAST - 64)) 112
	expect "$((generation + 1))x64 0x48"
}

# The flush of a batch fails: the drain repeats its epochs one by one. To learn the error, it writes
# once more the first block of the newest one.
flush_fails() {
	begin
	epoch 1 $FIRST
	epoch 2 $SECOND
	committed 2
	release
	at_origin 2 $((SECOND + 2048)) || fail "the second epoch is not in the batch: $REPLY"
	gate pass origin
	gate hold origin write $((SECOND + 2048)) 64
	gate hold origin flush
	gate let origin 0 fail
	flush_held
	same "drained epoch" "$(stage drained_epoch)" "$before"
	at_origin 1 $SECOND || fail "the first epoch is not repeated alone: $REPLY"
	gate let origin 0
	gate held origin 1
	[[ $REPLY == write* ]] || fail "held: $REPLY"
	same "drained epoch" "$(stage drained_epoch)" $((before + 1))
	gate pass origin
	gate let origin all
	stage_drained
	same "retries" "$(stage retries)" $((retries + 1))
}

# The same with a second epoch that touches the fingerprint, and so is no part of the batch: the drain
# does not write its sectors.
flush_fails_fingerprint() {
	begin
	epoch 1 $FIRST
	epoch 2 0 8
	epoch 2 $SECOND $LONG
	committed 2
	release
	gate let origin 0 fail
	flush_held
	at_origin 1 0 8 || fail "the second epoch is on the origin: $REPLY"
	ended
	same "retries" "$(stage retries)" $((retries + 1))
}

# After a start, the stage does not know which flushes came before.
after_start() {
	begin
	epoch 1 $FIRST
	epoch 2 $SECOND
	committed 2
	origin_fails
	stage_stop
	gate pass origin
	gate fill origin $generation 4096 45056
	gate hold origin write
	stage_start "${OPTIONS#* }"
	epoch 3 $THIRD
	stage_until committed_epoch $((before + 3))
	flushed_between
	at_origin 2 $((SECOND + 2048)) || fail "the second epoch is not on the origin: $REPLY"
	! at_origin 3 $THIRD || fail "the third epoch is on the origin before a flush"
	flushed
	ended
}

# A copy of the superblock gets the mark of a batch, but the log reports an error: the drain does not
# repeat a part of the batch, also after a suspend, because a start will not.
mark_fails() {
	begin
	epoch 1 $FIRST
	epoch 2 $SECOND
	committed 2
	release
	gate mute log write 8 8
	gate mute log write 1024 8
	gate let origin 0
	gate held log 1
	gate let log 0 fail
	gate pass log
	gate pass origin
	gate hold origin write $((SECOND + LONG - 64)) 64
	stage_settled
	dmsetup suspend st && dmsetup resume st || fail "suspend"
	! wait_for 2 at_origin 1 $SECOND || fail "the drain goes on after a mark has failed"
	gate pass origin
	gate let origin all
	stage_stop
	stage_start "${OPTIONS#* }"
	same "drained epoch" "$(stage drained_epoch)" $((before + 2))
	gets $SECOND 64 $((generation + 2))x64
}

gate_start
gate device origin 32 trim flush fua
O=$REPLY
gate device log 64 flush fua
L=$REPLY
NC=/dev/mapper/st
gate fill origin 1 0 65536
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
at_exit stage_gates_open
stage_start "${OPTIONS#* }"
for name in batch flush_with_commit flush_after_commit fua message fingerprint waiting \
	discard flush_fails flush_fails_fingerprint after_start mark_fails; do
	case_of $name
done
