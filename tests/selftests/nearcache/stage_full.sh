#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log is full while the origin hangs, and then fails: writers wait without an error, writers with
# NOWAIT get EAGAIN, reads go on. All is written in the end. The longest write finds room in a log whose
# free space is only too small for such a write.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# without_wait: write a block with NOWAIT.
without_wait() {
	fio --name=x --filename="$NC" --rw=write --bs=4k --offset=20m --size=4k --direct=1 --ioengine=io_uring \
		--nowait=1 >"$TMPDIR/fio" 2>&1
}

writer_ended() {
	! kill -0 "$writer" 2>/dev/null
}

gated_stage 24 17
# This leaves 1.4 MiB: more than a sixteenth of the ring, less than the longest write may need.
./blockdata write "$NC" -n 29760 >/dev/null || fail "write"
stage_drained
./blockdata write "$NC" -n 2048 >"$TMPDIR/writer" &
writer=$!
if ! wait_for 10 writer_ended; then
	dmsetup wipe_table --noflush st
	fail "a write of 1 MiB waits, although all before it is on the origin"
fi
wait "$writer" || fail "writer: $(<"$TMPDIR/writer")"
stage_restart

without_wait || fail "with room: $(<"$TMPDIR/fio")"
gate hold origin write
./blockdata write "$NC" -g 2 -n 40960 >"$TMPDIR/writer" &
writer=$!
stage_until waiting 1
same state "$(stage state)" 0
(($(stage behind_bytes) > 12 << 20)) || fail "only $(stage behind_bytes) bytes in the log"
./blockdata read "$NC" -g 2 -s 12288 -n 4096 || fail "wrong data while the origin hangs"
if without_wait || ! grep -q 'Resource temporarily unavailable' "$TMPDIR/fio"; then
	fail "NOWAIT with a full log: $(<"$TMPDIR/fio")"
fi

origin_fails
stage_until state 1
stage_until waiting 1
drained=$(stage drained_epoch)
kill -0 "$writer" || fail "the writer has ended: $(<"$TMPDIR/writer")"
same "drained epoch" "$(stage drained_epoch)" "$drained"

gate pass origin
wait "$writer" || fail "writer: $(<"$TMPDIR/writer")"
stage_drained
same state "$(stage state)" 0
same waiting "$(stage waiting)" 0
same behind_bytes "$(stage behind_bytes)" 0
./blockdata read "$NC" -g 2 -n 40960 || fail "wrong data"
./blockdata read "$O" -g 2 -n 40960 || fail "wrong data on the origin"
