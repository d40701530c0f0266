#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin hangs: it completes no request, and reports no error. After 30 s it counts as lost, and
# writes fail, as origin_timeout is less. This ends when it completes the requests, or in a suspend, but
# not when it fails them one after the other.
# kernels: 6.12
# cpus: 1
# when: soak
. ./asking.sh
. ./gate.sh
. ./stage.sh

ORIGIN_LOST=7 ORIGIN_BACK=8 READ_ONLY=12 WRITABLE=13

# heard EVENT...: has the listener got exactly these events?
heard() {
	[[ $(sed -n 's/^event=//p' "$TMPDIR/heard" | tr '\n' ' ') == "$* " ]]
}

hears() {
	wait_for 60 heard "$@" || fail "not $* but: $(<"$TMPDIR/heard")"
}

# hangs COUNT: the origin completes none of the writes from now on; COUNT writes go there.
hangs() {
	local i
	gate hold origin write
	for ((i = 0; i < $1; i++)); do
		puts 2 $((1024 + 16 * i)) 8
	done
	stage_commit >/dev/null
}

gated_stage 24 17 'origin_timeout 1'
listen 8
log_mark
hangs 2
hears $ORIGIN_LOST $READ_ONLY
log_since | grep -q 'no request of the drain ended for 3[0-9] s' || fail "$(log_since)"
same state "$(stage state)" 3
same origin_error "$(stage origin_error)" 110
same retries "$(stage retries)" 0
gate put "$NC" 3 2048 8
expect EIO
gets 1024 16 '2x8 1x8'
# The requests fail one after the other: the origin stays lost, from the begin of the hang on.
gate let origin 0 fail
sleep 3
same state "$(stage state)" 3
gate let origin all fail
gate held origin 1
same state "$(stage state)" 3
stage_until failing_ns 33000000000
same retries "$(stage retries)" 1
log_since | grep -q 'the drain repeats epoch' || fail "$(log_since)"
hears $ORIGIN_LOST $READ_ONLY
gate pass origin
gate let origin all
hears $ORIGIN_LOST $READ_ONLY $ORIGIN_BACK $WRITABLE
stage_drained

# A suspend waits for the requests, and not for those that were not sent yet; it ends the hang.
hangs 80
hears $ORIGIN_LOST $READ_ONLY $ORIGIN_BACK $WRITABLE $ORIGIN_LOST $READ_ONLY
dmsetup suspend st &
suspend=$!
stage_until failing_ns 32000000000
kill -0 $suspend 2>/dev/null || fail "a suspend does not wait"
gate pass origin
gate let origin all
wait $suspend || fail "suspend"
same "failing_ns of a suspended stage" "$(stage failing_ns)" 0
same state "$(stage state)" 0
dmsetup resume st || fail "resume"
wait "$listener" || fail "listener"
same events "$(grep -c ^event= "$TMPDIR/heard")" 8
puts 3 2048 8
stage_drained
gate look origin 1024 16
expect '2x8 1x8'
gate look origin 2048 8
expect 3x8
