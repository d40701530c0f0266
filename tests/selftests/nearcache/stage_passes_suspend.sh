#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# on_full writethrough: a suspend while writes are passed returns to the log, and flushes the origin. If
# such a flush fails, the next FLUSH of a writer fails, also after the suspend, of the next table, or of
# the one after a table that could not start.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

options='max_behind 1048576 on_full writethrough'

# fails_once: the next flush fails, and the one after it does not.
fails_once() {
	gate flush f "$NC"
	ends f EIO
	gate flush f "$NC"
	ends f 'done'
}

# events: print the number of events of the stage.
events() {
	dmsetup info -c --noheadings -o events st
}

events_above() {
	(($(events) > $1))
}

gated_stage 8 20 "$options"
begin_to_pass 2
gate seen origin
dmsetup suspend --nolockfs st || fail "suspend"
gate seen origin
(($(awk '{ print $3 }' <<<"$REPLY"))) || fail "the suspend did not flush the origin"
before=$(events)
dmsetup resume st || fail "resume"
same mode "$(stage mode)" 0
wait_for 30 events_above "$before" || fail "no event of the mode that the suspend has left"

# The flush of a return fails, and the one of a suspend after it does not.
begin_to_pass 3
gate hold origin flush
gate held origin 1
gate let origin all fail
stage_mode 2
gate pass origin
dmsetup suspend --nolockfs st && dmsetup resume st || fail "suspend"
same mode "$(stage mode)" 0
puts 4 0 8
fails_once

# The flush of the suspend fails, and the first start of the next table: its second start succeeds.
begin_to_pass 5
gate fail origin flush
dmsetup load st --table "$(stage_line "$options")" || fail "load"
dmsetup suspend --nolockfs st || fail "suspend"
! dmsetup resume st 2>/dev/null || fail "a start without a flush of the origin"
gate pass origin
dmsetup resume st || fail "resume"
same mode "$(stage mode)" 0
fails_once
stage_drained
gets 8192 4096 5x4096
