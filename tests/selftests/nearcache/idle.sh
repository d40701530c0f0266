#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Without reads and writes the module causes no I/O and runs no work item and no timer.
# kernels: 6.12
. ./cache.sh
TRACE=/sys/kernel/tracing
EVENTS="workqueue/workqueue_execute_start timer/timer_start timer/hrtimer_start block/block_bio_queue"

stats() {
	cat "$(sys_block "$O")/stat" "$(sys_block "$C")/stat"
}

# watch 0|1: switch the trace events $EVENTS off or on.
watch() {
	# shellcheck disable=SC2086 # several
	trace_events "$1" $EVENTS
}

# seen: print the trace lines of the module, and of bios on its devices.
seen() {
	grep -E 'dm_nearcache|nc_[a-z_]+$|fill_work|writer_wake|block_bio_queue: ('"${numbers//:/,}"')' $TRACE/trace
}

ticks() {
	awk '/^ *LOC:/ { print $2 + $3 }' /proc/interrupts
}

ticked() {
	(($(ticks) >= $1))
}

# a_while: wait until the machine has run for 500 timer ticks.
a_while() {
	local end=$(($(ticks) + 500))
	wait_for 30 ticked "$end" || fail "no timer ticks"
}

# calm: has nothing of the module run for a while? After the last hit, the watch over the cache
# device still runs a few times, until its last grace period has ended.
calm() {
	echo >$TRACE/trace
	a_while
	[[ -z $(seen) ]]
}

fresh
check -n 16384
settle
numbers="$(number "$O")|$(number "$C")|$(number /dev/mapper/nc)"
echo 8192 >$TRACE/buffer_size_kb
at_exit watch 0
# Prove that the trace works: it shows a miss.
watch 1
check -s 20000 -n 8 -b 8
settle
watch 0
[[ $(seen) == *writer_wake* && $(seen) == *block_bio_queue* ]] ||
	fail "the trace does not show the miss: $(seen)"
written_down
watch 1
wait_for 60 calm || fail "the module never becomes idle: $(seen)"
before=$(stats)
echo >$TRACE/trace
a_while
watch 0
same "statistics of the devices" "$(stats)" "$before"
[[ -z $(seen) ]] || fail "while idle: $(seen)"
