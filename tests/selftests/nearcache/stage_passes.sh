#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# on_full writethrough: when the log is full, it is emptied, and writes and flushes go to the origin, not
# to the log. Data that the log had retained is not read any more. When the writers pause, the origin is
# flushed, and the log is used again. Listeners of netlink hear when the log is full and used again. A
# passed write is not copied for a checked commit.
# kernels: 6.12
# cpus: 1
. ./asking.sh
. ./gate.sh
. ./kprobes.sh
. ./stage.sh

# copies: print the number of calls that copy a small write for the log.
copies() {
	awk '$1 == "nc_copy" { print $2 }' $TRACE/kprobe_profile
}

# seen DEVICE: set $writes, $flushes and $fua to the requests since the last call.
seen() {
	gate seen "$1"
	read -r _ writes flushes _ _ fua <<<"$REPLY"
}

# begin_to_pass GENERATION: let the log be full, then let writes pass. Then the origin holds write w, of
# 8 sectors from 2048 on, so that the stage goes on passing.
begin_to_pass() {
	gate hold origin write
	puts "$1" 6144 8
	epoch=$(stage_commit)
	gate held origin 1
	./blockdata write "$NC" -s 8192 -n 4096 -g "$1" >"$TMPDIR/writer" &
	stage_until waiting 1
	stage_mode 1
	gate write w "$NC" "$1" 2048 8
	# One epoch is marked, and the origin holds the next ones.
	gate pass origin
	gate hold origin write 2048 8
	gate hold origin write 8192 4096
	gate let origin all
	stage_until drained_epoch "$epoch"
	gate busy w
	same "mode of a log with writes" "$(stage mode)" 1
	gate pass origin
	gate hold origin write 2048 8
	gate let origin all
	stage_mode 2
	gate held origin 1
	wait $! || fail "writer: $(<"$TMPDIR/writer")"
	same behind_bytes "$(stage behind_bytes)" 0
	same retained_bytes "$(stage retained_bytes)" 0
}

gated_stage 8 20 'max_behind 1048576 on_full writethrough'
[[ $(dmsetup table st) == *' on_full writethrough' ]] || fail "$(dmsetup table st)"
probe 'p:nc_copy nc_small_write_copy'
echo 1 >$TRACE/events/kprobes/enable
puts 2 2048 16
(($(copies) == 1)) || fail "$(copies) copies of a write to the log"
stage_drained
listen 2
begin_to_pass 3
gets 2048 16 2x16

seen log
seen origin
before=$(copies)
puts 4 4096 8
same copies "$(copies)" "$before"
gate look origin 4096 8
expect 4x8
gate write s "$NC" 5 4104 8 sync
ends s 'done'
seen origin
((writes == 2 && fua == 1)) || fail "$writes writes, $fua with FUA on the origin"
gate hold origin flush
gate flush f "$NC"
gate held origin 2
gate busy f
gate let origin last
ends f 'done'
seen log
same "writes and flushes of the log" "$writes $flushes" '0 0'

# The origin gets w only now. When the writers pause, it is flushed, and writes wait for that.
gate let origin all
ends w 'done'
gets 2048 16 '3x8 2x8'
gate held origin 1
stage_mode 3
gate hold origin write
gate write x "$NC" 6 2048 8
gate busy x
gate let origin 0
ends x 'done'
stage_mode 0
wait "$listener" || fail "listener"
same events "$(sed -n 's/^event=//p' "$TMPDIR/heard" | tr '\n' ' ')" '10 11 '
seen log
((writes)) || fail "the log is not used"
gets 2048 16 '6x8 2x8'
gate pass origin
gate let origin all
stage_drained
gate look origin 2048 16
expect '6x8 2x8'
stage_restart 'max_behind 1048576'
same mode "$(stage mode)" 0
gets 8192 4096 3x4096
gets 4096 16 '4x8 5x8'
