#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The worker of jobs looks whether a job was cancelled, then lists a fill that reads at the peer. A
# whole 'invalidate' runs in between and finds no fill that it could mark stale. The fill must notice
# that its job was cancelled, and drop the peer's data, which may be older than the origin's.
# kernels: 6.12
. ./peer_job.sh

# hears WORD: hold_call must say this next.
hears() {
	local word=''
	read -r -t $((60 * SLOW)) word <&6
	[[ $word == "$1" ]] || fail "hold_call says '$word', not '$1'"
}

let_go() {
	exec 5>&-
	wait "$holder"
}

peer_gates
mkfifo "$TMPDIR/in" "$TMPDIR/out"
./hold_call nc_miss_prefetch <"$TMPDIR/in" >"$TMPDIR/out" &
holder=$!
exec 5>"$TMPDIR/in" 6<"$TMPDIR/out"
at_exit let_go
hears ready
job "$at" 128
hears held
dmsetup message nc 0 invalidate "$at" 128 || fail "invalidate"
exec 5>&-
hears released
job_ends 2 0 65536
gets "$at" 128 1x128
