#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The order in which nearcache-stage writes its log and the origin: all states of stage_order.pml
# are right, and each mutant is found.
set -uo pipefail
model=stage_order
# shellcheck source=tests/model/search
. "$TOP/tests/model/search"

whole WRITES=3 PRINTS=1
whole WRITES=3 SWITCHES=1 FAILURES=1
whole WRITES=3 DROPS=1
whole WRITES=3 MARK_ERRORS=1
if [[ ${SOAK:-} ]]; then
	whole WRITES=4 FLUSHES=2 CRASHES=2
	whole WRITES=4 PRINTS=1
	whole WRITES=3 FLUSHES=2 SWITCHES=2 PRINTS=1
	whole WRITES=4 SWITCHES=1
fi

broken REPORT_BEFORE_COMMIT 'W2: a flush ends when its epoch is closed'
broken EMPTY_FLUSH_AT_ONCE 'W2: a flush of an empty epoch does not wait for the commit before it'
broken FLUSH_JOINS_CLOSED_EPOCH 'W2: a flush ends with the commit that is under way'
broken FUA_WITHOUT_COMMIT 'W2: a write with FUA does not wait for the commit of its epoch'
broken MAP_KEEPS_LAST_COMPLETED 'W1: the map takes the write that was completed last'
broken COMMIT_WITHOUT_WAIT 'C2: a commit does not wait for the data of its epoch'
broken COMMIT_WITHOUT_FLUSH 'C3: a commit does not flush'
broken DRAIN_BEFORE_COMMIT 'D: an epoch is drained before it is committed'
broken TWO_EPOCHS_AT_ONCE 'D1: an epoch is drained before the one before it is flushed'
broken NEXT_BEFORE_MARK 'D1: an epoch is drained before the one before it is marked'
broken ONE_EPOCH_UNMARKED 'D1: an epoch is drained while one before it is not marked'
broken MERGE_EPOCHS 'D2: the drain writes the newest committed version'
broken OLDEST_VERSION 'D2: the drain writes the oldest version of the epoch'
broken FLUSH_WITHOUT_WAIT 'D3: the origin is flushed before the writes are complete'
broken DRAIN_NOT_REPEATED 'D3: the drain does not repeat the epoch after the origin has lost completed writes'
broken MARK_BEFORE_FLUSH 'D4: an epoch is marked before the origin is flushed'
broken LEAVE_MAP_BEFORE_FLUSH 'S1: data leaves the map when its drain begins'
broken NEXT_AFTER_ONE_COPY 'D4: the next batch begins when only one copy of the superblock has the mark'
broken REPEAT_AFTER_FAILED_MARK 'D4: the drain repeats a batch after its mark has failed' MARK_ERRORS=1
broken JOIN_AFTER_FLUSH 'D5: a batch takes an epoch after one whose commit ends a flush'
broken JOIN_AFTER_LATE_FLUSH 'D5: the same, for a flush that came while the open epoch was empty'
broken JOIN_AFTER_FUA 'D5: a batch takes an epoch after one that has a write with FUA'
broken JOIN_AFTER_START 'D5: a batch takes an epoch after one that recovery found'
broken JOIN_OVERTAKES 'D5: a write of a later epoch does not wait for those in flight to the same sector'
broken JOIN_PRINTED 'D5: a batch takes an epoch that touches a sector of the fingerprint' PRINTS=1
broken EXPECT_NOTHING 'fingerprint: it is not written before the drain' PRINTS=1
broken EXPECT_IN_ONE_COPY 'fingerprint: only one copy has it before the drain' PRINTS=1
broken PASS_BEFORE_DRAIN 'F3: writes are passed before all epochs are drained' SWITCHES=1
broken PASS_BEFORE_MARK 'F3: writes are passed before all epochs are marked' SWITCHES=1
broken PASS_AFTER_ONE_COPY 'F3: writes are passed when one copy has all marks' SWITCHES=1
broken PASS_WITH_RETAINED 'F3: retained data stays in the map' SWITCHES=1
broken FLUSH_NOT_PASSED 'F3: a flush does not reach the origin' SWITCHES=1
broken RETURN_BEFORE_WRITES 'F5: the log is used before the passed writes have ended' SWITCHES=1
broken RETURN_BEFORE_FLUSH 'F5: the log is used before the origin is flushed' SWITCHES=1
broken START_WITHOUT_FLUSH 'F7: a start after passed writes does not flush the origin' SWITCHES=1
broken FORGET_FAILED_FLUSH 'F6: a flush does not fail after a suspend' SWITCHES=1 FAILURES=1
broken START_WITHOUT_FLUSH 'R5: a start that drops epochs does not flush the origin' DROPS=1
broken DROP_ONE_EPOCH 'R2: a start drops the epoch that cannot be read, and keeps later ones' DROPS=1
broken DROP_AND_RETAIN 'R2: a start that drops epochs keeps retained data' DROPS=1
broken KEEP_PRINT 'F5: the fingerprint is that of before the passed writes' SWITCHES=1 PRINTS=1
check 'all mutants were tried' all_tried
finish
