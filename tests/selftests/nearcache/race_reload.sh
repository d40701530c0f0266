#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Replace the table, suspend or remove the device while a fill, a write and a hit are in flight. The
# command must wait for this I/O, and later requests for the command; cache and origin must agree.
. ./gate.sh

# at_work: start a hit, held at the cache device, and a fill and (in a writing mode) a write, held
# at the origin. Both devices have executed the requests, and only the answers are held.
at_work() {
	at=$((at + 512))
	cached "$at" 128
	gate mute cache read "$data" $((1 << 20))
	gate read hit "$NC" "$at" 128
	gate held cache 1
	gate pass cache
	gate mute origin read
	gate mute origin write
	gate read fill "$NC" $((at + 128)) 128
	gate held origin 1
	if [[ $MODE != read-only ]]; then
		gate write w "$NC" 2 $((at + 256)) 128
		gate held origin 2
	fi
	gate pass origin
}

# waits PID: does the command wait for I/O in flight?
waits() {
	grep -qsE 'dm_wait_for|nc_fill_drain' "/proc/$1/stack"
}

# through PID: fail unless the command and new requests wait until the held requests are answered.
through() {
	local seen
	wait_for 20 waits "$1" || fail "the command does not wait for I/O: $(cat "/proc/$1/stack")"
	gate read late "$NC" $((at + 256)) 128
	[[ $MODE == read-only ]] || gate write later "$NC" 3 $((at + 384)) 8
	gate seen origin
	gate busy late
	[[ $MODE == read-only ]] || gate busy later
	gate seen origin
	seen=$REPLY
	[[ $seen == '0 0 '* ]] || fail "the origin got requests meanwhile: $seen"
	gate let origin all
	gate let cache all
	ends hit 1x128
	ends fill 1x128
	[[ $MODE == read-only ]] || ends w 'done'
}

# settled MODE: check all data after the resume, also of the requests that waited.
settled() {
	if [[ $1 == read-only ]]; then
		ends late 1x128
		agrees "$at" 512 1x512
	else
		ends late 2x128
		gate end later
		# The new table may be read-only: then the late write fails.
		[[ $REPLY == 'done' || ($MODE == read-only && $REPLY == EIO) ]] || fail "the late writer: $REPLY"
		gate agree nc origin "$at" 512
		[[ $REPLY == '1x256 2x128 '* ]] || fail "wrong: $REPLY"
	fi
}

# to MODE NUMBER: change the mode by a reload; NUMBER: MODE in the status.
to() {
	local from=$MODE
	at_work
	dmsetup load nc --table "$(MODE=$1 line)" || fail "load $1 over $from"
	dmsetup resume nc &
	through $!
	wait $! || fail "resume"
	MODE=$1
	is mode "$2"
	settled "$from"
}

# suspended OPTIONS...: suspend with these dmsetup options, then resume.
suspended() {
	at_work
	dmsetup suspend "$@" nc &
	through $!
	wait $! || fail "suspend $*"
	gate busy late
	[[ $MODE == read-only ]] || gate busy later
	dmsetup resume nc || fail "resume"
	settled "$MODE"
}

# The data of a fill and of an update is in flight to the cache device: a suspend must wait.
drained() {
	at=$((at + 512))
	cached $((at + 128)) 128
	gate hold cache write "$data" $((1 << 20))
	gets "$at" 128 1x128
	gate held cache 1
	if [[ $MODE == writethrough ]]; then
		puts 2 $((at + 128)) 128
		gate held cache 2
	fi
	gate pass cache
	dmsetup "$@" nc &
	wait_for 20 waits $! || fail "$*: the command does not wait for fills"
	gate let cache all
	wait $! || fail "$*"
}

# A deferred remove takes effect only when the last user closes the device.
removed() {
	at_work
	dmsetup remove --deferred nc || fail "remove --deferred"
	gate let origin all
	gate let cache all
	ends hit 1x128
	ends fill 1x128
	[[ $MODE == read-only ]] || ends w 'done'
	wait_for 20 gone || fail "the device is still there"
	back
	drained remove
	back
	drained suspend
	dmsetup resume nc || fail "resume"
	gate agree nc origin "$at" 512
}

gone() {
	! dmsetup info nc >/dev/null 2>&1
}

# back: start again; fail unless the cache is warm and its data right.
back() {
	rm -f "$NC"
	dm_create nc "$(line)" >/dev/null || fail "start"
	is loaded 2
	gate agree nc origin "$at" 512
}

gates 16 24
between read-only
data=$(($(./sbset "$C" get data_offset) / 512))
for ((round = 0; round < $(times 1); round++)); do
	at=0
	# Go from each mode to each mode, also to the same.
	for step in read-only:0 writearound:1 writearound:1 writethrough:2 writethrough:2 \
		read-only:0 writethrough:2 writearound:1 read-only:0; do
		to "${step%:*}" "${step#*:}"
	done
	MODE=writethrough
	reload || fail "reload to $MODE"
	suspended
	removed
	MODE=writearound
	reload || fail "reload to $MODE"
	suspended --noflush
	removed
	MODE=read-only
	reload || fail "reload to $MODE"
	suspended
	gate fill origin 1 0 32768
	dmsetup message nc 0 invalidate all
done
gate agree nc origin 0 32768
