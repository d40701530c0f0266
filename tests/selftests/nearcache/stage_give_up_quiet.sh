#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A log that was given up gets no further request, whatever the drain or a commit was doing: it may hang,
# and the stage cannot be removed as long as a request is in flight.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# give_up: reset the count of requests to the log, and give it up.
give_up() {
	gate seen log
	dmsetup message st 0 give_up || fail "give_up"
}

# quiet TEXT: when everything has ended, the log must not have seen a request since give_up.
quiet() {
	stage_settled
	gate seen log
	same "$1: reads, writes, flushes, discards, zeroes, FUA of the log" "$REPLY" '0 0 0 0 0 0'
}

# again: start the stage again, with an empty log.
again() {
	stage_stop
	gate pass origin
	gate let origin all
	stage_start
	stage_drained
}

gated_stage 8 20
# The flush of an epoch ends: no mark.
gate hold origin flush
puts 2 2048 8
stage_commit >/dev/null
gate held origin 1
give_up
gate let origin 0
quiet mark
again

# The descriptor of a checked commit is written: no flush.
gate hold log write
gate write w "$NC" 3 2048 8
gate held log 1
gate write x "$NC" 3 2112 8
gate held log 2
gate let log all
ends w 'done'
ends x 'done'
gate flush f "$NC"
gate held log 1
give_up
ends f EIO
gate pass log
gate let log 0
quiet commit
again

# The drain has read a fingerprint block of the origin: it must not read the log, nor write a superblock.
gate hold origin read 0 8
puts 4 0 4
stage_commit >/dev/null
gate held origin 1
give_up
gate let origin 0
quiet fingerprint
again

# A write of the drain fails: the search for its error reads nothing from the log.
gate hold origin write
puts 5 2048 8
stage_commit >/dev/null
gate held origin 1
give_up
gate pass origin
gate let origin 0 fail
quiet 'error of the origin'
# A resume does not start the drain again.
dmsetup suspend st || fail "suspend"
dmsetup resume st || fail "resume"
quiet resume
again
gate look origin 2048 8
expect 5x8
