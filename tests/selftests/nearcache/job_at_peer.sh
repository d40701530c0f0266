#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A prefetch job that reads at a peer instead of the origin. No reader waits for the peer, a peer that
# fails ends the job, and a change of the origin, or another mode, keeps the peer's data out.
# cpus: 1
# allow-log: I/O error
. ./peer_job.sh

# refused TEXT WORDS...: a job-submit with these words must be refused with this text.
refused() {
	local said
	! said=$(./genl job-submit name=nc "${@:2}" 2>&1 9<"$P" 8</dev/null 7<"$C" 6<"$NC") || fail "not refused: $*"
	[[ $said == *"$1"* ]] || fail "'$said', not '$1'"
}

# The peer's data is cached, and the origin is not read.
brought() {
	local peer origin
	now peer fill_peer_bytes
	now origin fill_origin_bytes
	job "$at" 128
	job_ends 1 65536 0
	job_is peer-dev $(($(stat -c '(0x%t<<20)+0x%T' "$P"))) || fail "peer-dev: $(./genl job-get name=nc "job=id=$id")"
	gets "$at" 128 2x128
	more fill_peer_bytes "$peer" 65536
	more fill_origin_bytes "$origin" 0
}

# A read of data that the peer has not sent yet goes to the origin; when the peer has sent it, the
# read is a hit.
passed() {
	local bypassed
	next_block
	now bypassed bypass_peer
	gate hold peer read
	job "$at" 128
	gate held peer 1
	gets "$at" 64 1x64
	more bypass_peer "$bypassed"
	peer_open
	job_ends 1 65536 0
	gets "$at" 64 2x64
}

# One failed read is repeated; a peer that fails each read ends the job, and readers ask the origin.
failed() {
	next_block
	gate hold peer read
	job "$at" 128
	gate held peer 1
	gate let peer 0 fail
	peer_open
	job_ends 1 65536 0
	gets "$at" 128 2x128
	next_block
	gate fail peer read
	job "$at" 4096
	gate until nc fills_failed_peer '>' 16
	job_ends 4 0 $((4096 * 512))
	gets "$at" 128 1x128
	peer_open
	at=$((at + 4096))
}

# kept_out COMMAND...: run a command while the peer reads: the job is cancelled, nothing is cached.
kept_out() {
	next_block
	gate hold peer read
	job "$at" 128
	gate held peer 1
	"$@" &
	wait_for 30 job_is state 2 || fail "the job goes on: $(./genl job-get name=nc "job=id=$id")"
	peer_open
	wait $! || fail "$*"
	job_ends 2 0 65536
	gets "$at" 128 1x128
}

invalidated() {
	dmsetup message nc 0 invalidate "$at" 128
}

# A suspend waits for the peer while the device still serves: the peer may need that to answer.
suspended() {
	local origin
	next_block
	gate hold peer read
	job "$at" 128
	gate held peer 1
	dmsetup suspend nc &
	held_back() {
		[[ $(<"/proc/$!/wchan") == *nc_prefetch_hold_peers* ]]
	}
	wait_for 30 held_back || fail "the suspend does not wait for the peer: $(<"/proc/$!/wchan")"
	gets $((at + 128)) 64 1x64
	# A job for the origin goes on.
	now origin fill_origin_bytes
	./genl job-submit name=nc "range=start=$(((at + 256) * 512)),length=65536" >/dev/null || fail "job-submit"
	gate until nc fill_origin_bytes '>' "$origin"
	peer_open
	wait $! || fail "suspend"
	dmsetup resume nc || fail "resume"
	job_ends 1 65536 0
	at=$((at + 384))
}

# A job whose peer hangs does not hold up a job for the origin, although its fills take most of a small
# fill memory.
beside() {
	local origin
	next_block
	./genl device-set name=nc fill-memory=$((5 << 20)) >/dev/null || fail "device-set"
	gate hold peer read
	job "$at" 4096
	gate until nc fills_in_flight '>' 30
	now origin fill_origin_bytes
	./genl job-submit name=nc "range=start=$((gate_sectors * 256)),length=$((gate_sectors * 256))" >/dev/null || fail "job-submit"
	gate until nc fill_origin_bytes '>' "$((origin + 2097152))"
	peer_open
	wait_for 60 job_is state 1 || fail "the job does not end: $(./genl job-get name=nc "job=id=$id")"
	at=$((at + 4096))
}

peer_gates
refused "no open file" range=start=0,length=4096 job=peer-fd=99
refused "no block device" range=start=0,length=4096 job=peer-fd=8
refused "different sizes" range=start=0,length=4096 job=peer-fd=7
refused "a dm device" range=start=0,length=4096 job=peer-fd=6
brought
passed
failed
kept_out invalidated
suspended
beside
next_block
job "$at" 4096 bandwidth=65536
MODE=writethrough reload || fail "reload"
wait_for 30 job_is state 2 || fail "the job goes on in mode writethrough"
refused "mode read-only" range=start=0,length=4096 job=peer-fd=9
