#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin hangs: it completes no request, and reports no error. It counts as failing, and writes fail
# after origin_timeout. When it completes the requests, the stage works as before.
# kernels: 6.12
# cpus: 1
. ./asking.sh
. ./stage.sh

ORIGIN_LOST=7 ORIGIN_BACK=8 READ_ONLY=12 WRITABLE=13

# heard EVENT...: has the listener got exactly these events?
heard() {
	[[ $(sed -n 's/^event=//p' "$TMPDIR/heard" | tr '\n' ' ') == "$* " ]]
}

hears() {
	wait_for 30 heard "$@" || fail "not $* but: $(<"$TMPDIR/heard")"
}

# hang: the origin completes no request from now on.
hang() {
	dmsetup suspend --noflush --nolockfs origin || fail "suspend of the origin"
}

back() {
	dmsetup resume origin
}

make_null base base 24
make_dm O origin "0 $(sectors "$base") linear $base 0"
make_null L log 17
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
at_exit back
stage_start 'origin_timeout 1'
listen 4
hang
log_mark
./blockdata write /dev/mapper/st -n 256 -g 2 >/dev/null || fail "write"
stage_commit >/dev/null
hears $ORIGIN_LOST $READ_ONLY
log_since | grep -q 'no request of the drain ended for' || fail "$(log_since)"
same state "$(stage state)" 3
same origin_error "$(stage origin_error)" 110
same retries "$(stage retries)" 0
! ./blockdata write /dev/mapper/st -s 256 -n 8 -g 3 2>/dev/null || fail "a write succeeds"
./blockdata read /dev/mapper/st -n 256 -g 2 >/dev/null || fail "wrong data"
# A suspend waits for the requests; meanwhile the origin still counts as failing.
dmsetup suspend st &
suspend=$!
stage_until failing_ns $(($(stage failing_ns) + 1000000000))
kill -0 $suspend 2>/dev/null || fail "a suspend does not wait"
back
wait $suspend || fail "suspend"
dmsetup resume st || fail "resume"
hears $ORIGIN_LOST $READ_ONLY $ORIGIN_BACK $WRITABLE
wait "$listener" || fail "listener"
same failing_ns "$(stage failing_ns)" 0
same origin_error "$(stage origin_error)" 0
./blockdata write /dev/mapper/st -s 256 -n 8 -g 3 >/dev/null || fail "write"
stage_drained
./blockdata read "$base" -n 256 -g 2 >/dev/null || fail "the origin lacks a write"
./blockdata read "$base" -s 256 -n 8 -g 3 >/dev/null || fail "the origin lacks the last write"
same state "$(stage state)" 0
