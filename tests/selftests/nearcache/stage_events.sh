#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Listeners of netlink hear when the origin of a stage fails and works again, also if the table is
# replaced meanwhile, when writes fail in between, when they wait for a while, and when the log fails.
# kernels: 6.12
# cpus: 1
. ./asking.sh
. ./gate.sh
. ./stage.sh

ORIGIN_LOST=7 ORIGIN_BACK=8 LOG_FAILED=9 FULL=10 ROOM=11 READ_ONLY=12 WRITABLE=13

# heard EVENT...: has the listener got exactly these events?
heard() {
	[[ $(sed -n 's/^event=//p' "$TMPDIR/heard" | tr '\n' ' ') == "$* " ]]
}

# hears EVENT...: wait until it has.
hears() {
	wait_for 30 heard "$@" || fail "not $* but: $(<"$TMPDIR/heard")"
}

gated_stage 8 24 'max_behind 1048576'
listen 7
origin_fails
puts 3 0 8
stage_commit >/dev/null
hears $ORIGIN_LOST
dmsetup load st --table "$(dmsetup table st)" && dmsetup resume st || fail "reload"
stage_until retries 1
ask stage-set name=st origin-timeout=1
hears $ORIGIN_LOST $READ_ONLY
ask stage-set name=st origin-timeout=0
hears $ORIGIN_LOST $READ_ONLY $WRITABLE
./blockdata write "$NC" -n 8192 -g 2 >"$TMPDIR/writer" &
writer=$!
hears $ORIGIN_LOST $READ_ONLY $WRITABLE $FULL
stage_until waiting 1
gate pass origin
hears $ORIGIN_LOST $READ_ONLY $WRITABLE $FULL $ORIGIN_BACK $ROOM
wait "$writer" || fail "writer: $(<"$TMPDIR/writer")"
same waiting "$(stage waiting)" 0
stage_drained

gate fail log write
gate write w "$NC" 4 0 8
gate end w
hears $ORIGIN_LOST $READ_ONLY $WRITABLE $FULL $ORIGIN_BACK $ROOM $LOG_FAILED
wait "$listener" || fail "listener"
same "names" "$(grep -cx 'name=st' "$TMPDIR/heard")" 7
out=$(sed -n "/^event=$LOG_FAILED\$/,\$p" "$TMPDIR/heard")
says stage-status.state 2
