#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A control group gets 1 ms of processor time per second, so its readers are stopped for a second
# anywhere, also between the look-up of a hit and its submission. The cache device is not to blame:
# it must stay in use, whether other readers have hits meanwhile or not.
# kernels: 6.12
# when: soak
# cpus: 1
. ./cache.sh

TRACE=/sys/kernel/tracing
event=workqueue/workqueue_queue_work

# limit MAX: set the processor time of the group.
limit() {
	echo "$1" >"$group/cpu.max" || fail "cpu.max does not take $1"
}

# stopped: stop readers for some seconds. Fail unless the cache device stays in use; store in probes
# how often the module had the device probed: it does so while a hit section lasts long.
stopped() {
	local fio
	echo >$TRACE/trace
	in_group "$group" fio --name=x --filename=/dev/mapper/nc --readonly --rw=randread --bs=4k \
		--direct=1 --thread --numjobs=8 --time_based --runtime=5 >"$TMPDIR/fio" &
	fio=$!
	wait_for 30 is_open || fail "fio does not begin"
	sleep 1
	limit '1000 1000000'
	sleep 3
	limit max
	wait $fio || fail "fio: $(<"$TMPDIR/fio")"
	is state 0
	! log_since | grep 'does not answer' || fail "the cache device is blamed"
	probes=$(grep -c 'workqueue=nearcache_b' $TRACE/trace)
}

# blameless N: repeat until a run needed N probes: until hits took long in it.
blameless() {
	local round
	for ((round = 0; round < 10; round++)); do
		stopped
		((probes < $1)) || return 0
	done
	fail "no reader was stopped in a hit section"
}

# untraced: switch the trace event off.
untraced() {
	trace_events 0 $event
	echo 0 >$TRACE/events/$event/filter
}

make_group group +cpu
fresh 4 24 '2 cache_timeout 100'
check
settle
log_mark
echo 'workqueue ~ "nearcache_b*"' >$TRACE/events/$event/filter
at_exit untraced
trace_events 1 $event
blameless 2
verify_begin -b 8 -t 1
blameless 4
verify_end
