#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A flush and a FUA write reach the origin, and complete only after the origin has completed them. A
# writing session is recorded as clean only after a flush of the origin.
# kernels: 6.1
# expect-log: nearcache: .*(cannot be flushed|failed a flush, it may have lost writes)
# cpus: 1
. ./gate.sh

# waits ID: fail unless the request is still in flight: it must wait for the origin.
waits() {
	gate busy "$1"
}

# count: set seen_writes, seen_flushes and seen_fua: requests to the origin since the last call.
count() {
	gate seen origin
	read -r _ seen_writes seen_flushes _ _ seen_fua <<<"$REPLY"
}

flushes() {
	local flushes
	count
	now flushes flushes
	gate hold origin flush
	gate flush f "$NC"
	gate held origin 1
	waits f
	gate let origin all
	ends f 'done'
	more flushes "$flushes"
	# The origin fails a flush: so must the flush of the device.
	gate flush f "$NC"
	gate held origin 1
	gate let origin all fail
	ends f EIO
	gate pass origin
	count
	same "flushes" "$seen_flushes" 2
	lost
}

# The origin loses writes that it has acknowledged, and fails its next flush, once. From this flush
# on the cache must not serve the lost data.
lost() {
	next_block
	cached "$at" 128
	puts 2 "$at" 16
	gate until nc fills_in_flight = 0
	gate fill origin 1 "$at" 16
	gate fail origin flush
	gate flush f "$NC"
	ends f EIO
	gate pass origin
	gate until nc bytes_valid = 0
	agrees "$at" 128 1x128
	gate flush f "$NC"
	ends f 'done'
	agrees "$at" 128 1x128
}

# O_DSYNC: a write with FUA if the origin supports it, otherwise a write followed by a flush.
synchronous() {
	local warm
	for warm in '' 1; do
		next_block
		[[ ! $warm ]] || cached "$at" 128
		count
		gate hold origin write
		gate hold origin flush
		gate write w "$NC" 2 $((at + 3)) 20 sync
		gate held origin 1
		count
		same "writes" "$seen_writes" 1
		same "FUA writes" "$seen_fua" "${1:-0}"
		same "flushes before the write" "$seen_flushes" 0
		gate pass origin
		gate hold origin flush
		waits w
		gate let origin 0
		gate held origin 1
		waits w
		gate pass origin
		gate let origin all
		ends w 'done'
		agrees "$at" 128 '1x3 2x20 1x105'
	done
}

# medium STATE: fail unless the superblock has this state (enum nearcache_super_state).
medium() {
	same "state on the medium" "$(./sbset "$C" get state)" "$1"
}

# A stop, first with an origin whose flush is slow, then with one whose flush fails.
stopped() {
	puts 2 0 8
	gate until nc fills_in_flight = 0
	gate hold origin flush
	dmsetup remove nc &
	gate held origin 1
	medium 1
	gate let origin all
	wait $! || fail "remove"
	medium 0
	rm -f "$NC"
	gate pass origin
	count
	# The start flushes the origin: other programs may have written to it.
	start
	count
	same "flushes at the start" "$seen_flushes" 1
	is loaded 2
	agrees 0 128 "2x8 1x120"
	# This session wrote nothing, so its stop must not flush the origin.
	count
	stop
	count
	same "flushes" "$seen_flushes" 0
	medium 0
	start
	puts 3 0 8
	gate fail origin flush
	stop
	gate pass origin
	medium 1
	start
	is loaded 3
	is blocks_used 0
	agrees 0 128 "3x8 1x120"
	# The flush of a suspend fails: data that may be lost is dropped, and no stop says clean.
	puts 4 0 8
	gate until nc fills_in_flight = 0
	gate fail origin flush
	dmsetup suspend nc
	gate pass origin
	medium 1
	is bytes_valid 0
	gate fill origin 3 0 8
	dmsetup resume nc
	agrees 0 128 "3x8 1x120"
	stop
	medium 0
	start
	is loaded 2
	agrees 0 128 "3x8 1x120"
}

# A suspend flushes the origin and records a clean state, as a stop does.
suspended() {
	puts 4 0 8
	count
	gate pass origin
	dmsetup suspend nc
	count
	((seen_flushes >= 1)) || fail "the suspend did not flush"
	medium 0
	dmsetup resume nc
	medium 1
	puts 1 0 8
	dmsetup suspend --noflush nc
	medium 1
	dmsetup resume nc
}

# A read-only session stays warm after a crash only if the origin does not lose cached data: the
# cache flushes the origin at the start and when a message reports a change.
readonly() {
	MODE=read-only
	stop
	count
	start
	count
	same "flushes at the start" "$seen_flushes" 1
	medium 2
	cached 0 1024
	gate fill origin 7 0 64
	count
	dmsetup message nc 0 invalidate 0 64 || fail "invalidate"
	count
	same "flushes" "$seen_flushes" 1
	medium 2
	# The flush fails: after a crash the cache must be cold, and a stop must not say clean.
	gate fail origin flush
	dmsetup message nc 0 invalidate 0 64 || fail "invalidate"
	medium 1
	gets 0 64 7x64
	stop
	medium 1
	start
	medium 1
	is loaded 3
	gate pass origin
	cached 0 1024
	stop
	medium 0
	start
	medium 2
	is loaded 2
	agrees 0 64 7x64
}

# Test each writing mode on an origin of its own.
for mode in writearound writethrough; do
	(
		trap run_cleanups EXIT
		gates 8 8 flush fua
		between $mode
		flushes
		synchronous 1
		stopped
		suspended
		[[ $mode == writearound ]] || readonly
	) || fail "$mode, origin with FUA"
	[[ $mode == writethrough ]] || continue
	(
		trap run_cleanups EXIT
		gates 8 8 flush
		between $mode
		synchronous ''
	) || fail "$mode, origin without FUA"
	(
		trap run_cleanups EXIT
		# An origin without a volatile cache needs no flush and must get none.
		gates 8 8
		between $mode
		count
		gate flush f "$NC"
		ends f 'done'
		gate write w "$NC" 2 0 8 sync
		ends w 'done'
		stop
		count
		same "flushes" "$seen_flushes" 0
		same "FUA writes" "$seen_fua" 0
		medium 0
	) || fail "$mode, origin without a volatile cache"
done
