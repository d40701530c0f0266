#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While the origin has failed for origin_timeout, writes fail, and the log keeps its data; when the
# origin works again, the drain goes on, and the stage accepts writes.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

events() {
	dmsetup info -c --noheadings -o events st
}

# idle: has the drain ended, with its events?
idle() {
	(($(stage in_flight) == 0))
}

normal() {
	(($(stage state) == 0))
}

gated_stage 24 17 'origin_timeout 1'
[[ $(dmsetup table st) == *' origin_timeout 1' ]] || fail "$(dmsetup table st)"

# A flush that takes longer than origin_timeout is no failure of the origin.
log_mark
gate hold origin flush
puts 2 0 8
epoch=$(stage_commit)
gate held origin 1
sleep 3
same "state while the origin flushes" "$(stage state)" 0
puts 2 8 8
[[ ! $(log_since | grep 'origin_timeout') ]] || fail "$(log_since)"
gate pass origin
gate let origin all
wait_for 30 stage_above drained_epoch "$epoch" || fail "$(dmsetup status --noflush st)"
stage_drained
wait_for 30 idle || fail "$(dmsetup status --noflush st)"
origin_fails
before=$(events)
log_mark
puts 3 0 8
stage_commit >/dev/null
stage_until state 1
stage_until state 3
# One event for the first failure, one for the timeout, and others of the same time.
(($(events) >= before + 2)) || fail "$(events) events after $before"
log_since | grep -q 'failed for 1 s (origin_timeout): writes fail' || fail "$(log_since)"
(($(stage failing_ns) >= 1000000000)) || fail "failing_ns: $(stage failing_ns)"
gate put "$NC" 4 8 8
expect EIO
gate trim t "$NC" 8 8
ends t EIO
gets 0 16 '3x8 2x8'
gate flush f "$NC"
ends f 'done'

# The option changes while the origin fails.
dmsetup message st 0 set origin_timeout 0
same state "$(stage state)" 1
./blockdata write "$NC" -n 40960 -g 5 >"$TMPDIR/writer" 2>&1 &
writer=$!
stage_until waiting 1
dmsetup message st 0 set origin_timeout 1
same state "$(stage state)" 3
! wait "$writer" || fail "a write that waited for room did not fail"
same waiting "$(stage waiting)" 0

gate pass origin
wait_for 30 normal || fail "$(dmsetup status --noflush st)"
same failing_ns "$(stage failing_ns)" 0
puts 6 0 8
stage_drained
gate look origin 0 8
expect 6x8
