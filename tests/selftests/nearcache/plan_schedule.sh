#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The worker computes the schedule of a long plan. A suspend stops it, and the worker begins again after
# the resume. A plan that replaces or continues this one gets its own schedule. A removal during the
# computation succeeds.
# kernels: 6.12
# cpus: 1
. ./kprobes.sh
. ./planned.sh

BLOCK=65536

# last: print how the last computation ended: 0, or -4 (EINTR) if it was stopped.
last() {
	sed -n 's/.*: nc_over: .* result=//p' $TRACE/trace | tail -n 1
}

begun() {
	(($(grep -c ': nc_begun:' $TRACE/trace) == count))
}

# computes: wait until the next computation begins.
computes() {
	count=$((count + 1))
	wait_for 60 begun || fail "computation $count: $(grep nc_ $TRACE/trace)"
}

# brought BYTES: has the stream brought this much?
brought() {
	(($(field prefetched_bytes) >= $1))
}

# long: submit a plan of four million visits, nearly the longest.
long() {
	ask plan-submit name=nc "range=16383@0,length=$((16 * MB)),start=0" plan=commit=1
}

fresh 17 9
probe 'p:nc_begun dm_nearcache:nc_belady_schedule'
# shellcheck disable=SC2016 # of the probe
probe 'r:nc_over dm_nearcache:nc_belady_schedule result=$retval:s32'
echo 1 >$TRACE/events/kprobes/enable
count=0 ended=
# Try again if a computation ends before the suspend.
for ((i = 0; i < 10 && ${ended:-0} == 0; i++)); do
	long
	computes
	dmsetup suspend nc || fail "suspend"
	ended=$(last)
	dmsetup resume nc || fail "resume"
done
same "result after a suspend" "$ended" -4
computes

# Another plan replaces it: its data comes, although no reader reads.
before=$(field prefetched_bytes)
plan_of $((259 * BLOCK)) $((265 * BLOCK))
computes
wait_for 60 brought $((before + 2 * BLOCK)) || fail "brought: $before, $(field prefetched_bytes)"
misses=$(field misses)
visit $((259 * BLOCK)) $((265 * BLOCK))
is misses "$misses"
wait_for 30 state_is 2 || fail "the plan did not end: $out"

# A plan continues it.
long
computes
ask plan-submit name=nc "range=length=$BLOCK,start=0" plan=commit=1,append=1
computes
get
says visits $((16383 * 256 + 1))
stop
