#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Data that is not yet in the log is not read. A read of retained data is in flight while its space is
# to be used again: the writers wait for it, and it returns what was there.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# stuck: do writers wait, although all before them is on the origin?
stuck() {
	stage_above waiting 1 && (($(stage behind_bytes) == 0))
}

gated_stage 24 17
gate hold log write
gate write w "$NC" 2 0 136
gate held log 1
place=${REPLY##* } place=${place%+*}
gets 0 8 1x8
gate let log 0
ends w 'done'
gate pass log
gets 0 8 2x8
stage_drained
(($(stage retained_bytes) > 0)) || fail "nothing is retained"

gate hold log read "$place" 8
gate read r "$NC" 0 8
gate held log 1
./blockdata write "$NC" -s 8 -n 40000 -g 3 >"$TMPDIR/writer" &
writer=$!
wait_for 30 stuck || fail "the writers do not wait: $(dmsetup status --noflush st)"
gate busy r
gate pass log
gate let log all
ends r 2x8
wait "$writer" || fail "writer: $(<"$TMPDIR/writer")"
stage_drained
./blockdata read "$NC" -s 8 -n 40000 -g 3 >/dev/null || fail "wrong data"
gets 0 8 2x8
