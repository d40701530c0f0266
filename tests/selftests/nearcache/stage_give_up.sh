#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log hangs and is given up: requests fail that the log device has not got, and the device can be
# removed when those in flight have ended. The log keeps what is committed.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

settled() {
	(($(stage in_flight) == 0))
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
dmsetup message st 0 give_up || fail "give_up"
ends f EIO
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
wait_for 30 settled || fail "in flight: $(dmsetup status --noflush st)"
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
