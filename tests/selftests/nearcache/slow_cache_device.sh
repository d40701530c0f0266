#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache device does not answer for longer than cache_timeout: reads must bypass it and writes
# continue. Once it has answered all requests, the cache must use it again, without stale data.
# kernels: 6.12
# cpus: 1
. ./gate.sh
OPTIONS='2 cache_timeout 300'
TRACE=/sys/kernel/tracing

events() {
	dmsetup info -c --noheadings -o events nc
}

# evented BEFORE: there were more dm events than BEFORE.
evented() {
	(($(events) > $1))
}

# hangs: hold a hit at the cache device until the state is degraded.
hangs() {
	gate hold cache read
	gate read hit "$NC" "$at" 8
	gate until nc state = 3
	now reason reason
	((reason == 5)) || fail "reason is $reason"
}

# answers RUNS: answer the hit, which must return RUNS; wait until the cache device is used again.
answers() {
	gate pass cache
	gate let cache all
	ends hit "$1"
	gate until nc state = 0
	now reason reason
	((reason == 0)) || fail "reason is $reason"
}

degraded() {
	local before bypassed hits
	next_block
	cached "$at" 128
	before=$(events)
	hangs
	wait_for 10 evented "$before" || fail "no dm event"
	# These reads must not be sent to the cache device: the gate would hold them.
	now bypassed bypass_state
	gets "$at" 64 1x64
	gets $((at + 64)) 64 1x64
	more bypass_state "$bypassed" 2
	# This read must not start a fill, which the cache device could not accept.
	gets $((at + 128)) 128 1x128
	gate busy hit
	answers 1x8
	now hits hits
	gets "$at" 128 1x128
	more hits "$hits"
}

# Data written while the cache device hangs must be read afterwards.
written() {
	next_block
	cached "$at" 128
	hangs
	puts 2 "$at" 4
	puts 2 $((at + 32)) 8
	gets "$at" 128 "$1"
	dmsetup message nc 0 invalidate $((at + 64)) 8 || fail "invalidate"
	gate busy hit
	gate pass cache
	gate let cache all
	ends hit 1x8
	gate until nc state = 0
	agrees "$at" 128 "$1"
}

# The watch over the cache device must queue no work while no reader runs.
sleeps() {
	local event=workqueue/workqueue_queue_work
	local filter=$TRACE/events/$event/filter
	gate until nc fills_in_flight = 0
	cached "$at" 8
	echo 'workqueue ~ "nearcache*"' >"$filter"
	echo >$TRACE/trace
	trace_events 1 $event
	gets "$at" 8 "$1"
	wait_for 5 grep -q 'workqueue=nearcache' $TRACE/trace ||
		fail "the watch over the cache device is not queued"
	wait_for 10 quiet || fail "still awake: $(tail -n 3 $TRACE/trace)"
	trace_events 0 $event
	echo 0 >"$filter"
}

# quiet: was no work queued for a second?
quiet() {
	echo >$TRACE/trace
	sleep 1
	! grep -q 'workqueue=nearcache' $TRACE/trace
}

gates 8 16
between read-only
degraded
sleeps 1x8
# With cache_timeout 0 the state never changes.
reload '2 cache_timeout 0' || fail "reload"
next_block
cached "$at" 128
gate hold cache read
gate read hit "$NC" "$at" 8
gate held cache 1
sleep 2
now state state
((state == 0)) || fail "degraded without a timeout"
gate pass cache
gate let cache all
ends hit 1x8
for mode in writearound writethrough; do
	# Create the cache again: the time before a device is used again doubles with each hang.
	stop
	gate_live=''
	between $mode
	degraded
	written '2x4 1x28 2x8 1x88'
done
