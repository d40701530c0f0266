#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log hangs and is given up: requests that were not sent to it fail, and the stage can be
# removed when the requests in flight have ended. The log keeps the committed epochs.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

none_waits() {
	(($(stage waiting) == 0))
}

gated_stage 24 17
puts 3 100 8
stage_drained
origin_fails
puts 4 200 8
stage_commit >/dev/null
# A long write: its commit waits for the descriptor.
puts 5 2000 256
gate hold log any
gate flush f "$NC"
gate busy f
gate write w "$NC" 5 0 8
gate busy w
gate read r "$NC" 200 8
gate busy r
dmsetup message st 0 commit 2>/dev/null &
message=$!
dmsetup message st 0 give_up || fail "give_up"
ends f EIO
! wait "$message" || fail "a commit succeeds"
same state "$(stage state)" 2
gate put "$NC" 6 16 8
expect EIO
gate get "$NC" 200 8
expect EIO
gets 100 8 3x8
(($(stage in_flight) > 0)) || fail "nothing is in flight"
gate pass log
gate let log all fail
ends w EIO
ends r EIO
stage_settled
gate pass origin
same drained_epoch "$(stage drained_epoch)" 1
dmsetup suspend st && dmsetup resume st || fail "suspend and resume"
same drained_epoch "$(stage drained_epoch)" 1
stage_stop
gate look origin 200 8
expect 1x8
stage_start
gets 200 8 4x8
stage_drained
gate look origin 200 8
expect 4x8

# A write that waits for room.
origin_fails
./blockdata write "$NC" -n 40960 -g 7 >"$TMPDIR/writer" 2>&1 &
writer=$!
stage_until waiting 1
dmsetup message st 0 give_up || fail "give_up"
! wait "$writer" || fail "a write that waited for room did not fail"
stage_stop

# Writes that wait for room, while the worker that gives them their places waits for the log.
gate pass origin
stage_start
stage_drained
origin_fails
dmsetup message st 0 set max_behind 1048576
puts 7 4096 2048
stage_commit >/dev/null
echo 4 >"$(sys_block "$L")/queue/nr_requests" || fail "nr_requests"
for ((i = 1; i <= 9; i++)); do
	gate write "w$i" "$NC" 8 $((i * 16)) 8
	stage_until waiting $i
done
gate hold log any
dmsetup message st 0 set max_behind 0
gate held log 4
(($(stage waiting) > 0)) || fail "no write waits"
dmsetup message st 0 give_up || fail "give_up"
wait_for 10 none_waits || fail "$(stage waiting) writes wait for room"
ends w9 EIO
gate pass log
gate let log all fail
stage_settled
stage_stop

# A start has filled the map and failed, the next one cannot read the log: no read gets old data.
gate break log write 3
dmsetup create --notable --noudevsync st && dmsetup load st --table "$(stage_line)" || fail "load"
! dmsetup resume st 2>/dev/null || fail "it starts without its superblock"
gate pass log
gate fail log read 2048 32768
! dmsetup resume st 2>/dev/null || fail "it starts from a log that cannot be read"
dmsetup message st 0 give_up || fail "give_up"
dmsetup resume st || fail "resume"
gate get "$NC" 4096 8
expect EIO
gate pass log
stage_stop
