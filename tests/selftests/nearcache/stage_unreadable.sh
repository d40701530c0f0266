#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A descriptor of the log cannot be read: the stage starts only with drop_unreadable, which drops the
# epochs from there on and says whether they were committed. What follows is kept.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# epoch GENERATION FIRST: commit an epoch of one write. It takes two places: descriptor and data.
epoch() {
	puts "$@" 8
	stage_commit >/dev/null
}

# unreadable PLACE TEXT: stop the stage, whose origin fails; it must start only with drop_unreadable, when
# the origin can be flushed, and log TEXT.
unreadable() {
	stage_stop
	gate fail log read $((2048 + $1 * 8)) 8
	log_mark
	! dmsetup create --noudevsync st --table "$(stage_line)" 2>/dev/null || fail "place $1: it starts"
	log_since | grep -q 'cannot read block' || fail "place $1: $(log_since)"
	dm_gone st
	! dm_create st "$(stage_line 'drop_unreadable 1')" >/dev/null 2>&1 ||
		fail "place $1: it starts without a flush of the origin"
	dm_gone st
	gate pass origin
	gate fail origin write
	stage_start 'keep_retained 1 drop_unreadable 1'
	log_since | grep -qE "cannot be read: $2\$" || fail "place $1: $(log_since)"
	same retained_bytes "$(stage retained_bytes)" 0
	[[ $(dmsetup table st) != *drop_unreadable* ]] || fail "$(dmsetup table st)"
	! dmsetup load st --table "$(stage_line 'drop_unreadable 1')" 2>/dev/null || fail "a reload accepts it"
	gate pass log
	dd if="$L" bs=4K skip=$((256 + $1)) count=1 iflag=direct status=none | cmp -s -n 4096 - /dev/zero ||
		fail "place $1: the next start would find the same block"
}

gated_stage 8 20
origin_fails
epoch 2 1000
epoch 3 1004
epoch 4 1100
# Nothing says that the second epoch was committed.
unreadable 2 'writes from epoch 2 on are dropped, if there were any'
gets 1000 16 '2x8 1x8'
gets 1100 8 1x8
epoch 5 1008
stage_restart
gets 1000 16 '2x8 5x8'

# The superblock says so: the drain of an epoch that writes the fingerprint's sectors has begun.
gate pass origin
stage_drained
origin_fails
epoch 6 0
stage_until state 1
unreadable 4 'writes from epoch 3 on are dropped, and some were committed'
gets 0 8 1x8

# It lists drained data: all that is not drained is behind it.
gate pass origin
epoch 7 1000
stage_drained
origin_fails
epoch 8 1016
unreadable 4 'writes from epoch 4 on are dropped.*'
gets 1000 24 '7x8 5x8 1x8'
epoch 9 1016
stage_restart
gets 1000 24 '7x8 5x8 9x8'
gate pass origin
stage_drained
gate look origin 1000 24
expect '7x8 5x8 9x8'

# A table that fails to start leaves the device in use.
gate fail log read 2048 38912
dmsetup load st --table "$(stage_line)" && dmsetup suspend st || fail "load"
! dmsetup resume st 2>/dev/null || fail "it starts from a log that cannot be read"
log_mark
! dmsetup load st --table "$(stage_line 'drop_unreadable 1')" 2>/dev/null || fail "the device is in use"
log_since | grep -q 'needs a device that is not in use' || fail "$(log_since)"
gate pass log
dmsetup resume st || fail "resume"
gets 1000 24 '7x8 5x8 9x8'
