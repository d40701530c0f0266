#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# on_full writethrough: an origin that fails the flush at the return, a start after a crash while writes
# passed, a change of the option meanwhile, and a sector that was discarded meanwhile, also if the origin
# fails the discard.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# flushes_of_origin: print their number since the last call.
flushes_of_origin() {
	gate seen origin
	awk '{ print $3 }' <<<"$REPLY"
}

gated_stage 8 20 'max_behind 1048576 on_full writethrough'
# The first and the last sectors of the origin have a fingerprint.
puts 2 0 8
stage_drained
begin_to_pass 3
puts 4 0 8
gate keep log
# The flush of the return fails, and no writer has asked for one: the next one has to hear of it.
gate hold origin flush
gate held origin 1
stage_mode 3
gate let origin all fail
stage_mode 2
gate pass origin
gate flush f "$NC"
ends f EIO
gate flush f "$NC"
ends f 'done'
stage_mode 0
# A sector of the fingerprint is written by the drain, which is cut off.
gate hold origin write
puts 5 0 16
stage_commit >/dev/null
gate held origin 1
gate pass origin
gate fail origin write
gate let origin all fail
stage_stop
gate pass origin
stage_start 'max_behind 1048576 on_full writethrough'
stage_drained
gate look origin 0 16
expect 5x16

# The node crashes while writes are passed.
stage_stop
gate restore log
gate fail origin flush
! dmsetup create --noudevsync st --table "$(stage_line)" 2>/dev/null || fail "a start without a flush of the origin"
dm_gone st
gate pass origin
flushes_of_origin >/dev/null
stage_start 'max_behind 1048576 on_full writethrough'
(($(flushes_of_origin))) || fail "the start did not flush the origin"
gets 0 16 5x16

# A change of the option returns to the log.
begin_to_pass 7
dmsetup message st 0 set on_full wait || fail "set"
stage_mode 0
[[ $(dmsetup table st) != *on_full* ]] || fail "$(dmsetup table st)"
stage_drained
gets 8192 4096 7x4096

# A sector of the fingerprint was discarded, and reads differently later: no other host has written.
dmsetup message st 0 set on_full writethrough || fail "set"
begin_to_pass 8
# A write that the origin holds lets the stage go on passing.
gate hold origin write 2048 8
gate write w "$NC" 8 2048 8
gate held origin 1
blkdiscard -o 0 -l 4096 "$NC" || fail "blkdiscard"
gate fail origin trim
blkdiscard -o 0 -l 4096 "$NC" || fail "a discard that the origin fails"
gate pass origin
gate let origin all
ends w 'done'
stage_mode 0
gate hold origin write
puts 9 100 8
stage_commit >/dev/null
gate held origin 1
gate pass origin
gate fail origin write
gate let origin all fail
stage_stop
gate pass origin
gate fill origin 10 0 8
stage_start
stage_drained
