#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A failing cache device never causes an error for a reader: the origin answers. After 16 errors
# the cache is bypassed and an event reports it. The next start uses only slots that are still valid.
# kernels: 6.12
# cpus: 1
. ./cache.sh
TRACE=/sys/kernel/tracing

# bad +FIRST-LAST or -FIRST-LAST: these sectors of the cache device fail from now on, or no longer.
bad() {
	echo "$1" >"$NULLB/local/badblocks" || fail "badblocks $1"
}

# watch 0|1: switch the tracepoint of state changes off or on.
watch() {
	trace_events "$1" nearcache/nearcache_mode
}

events() {
	dmsetup info -c --noheadings -o events nc
}

# evented BEFORE: there were more dm events than BEFORE.
evented() {
	(($(events) > $1))
}

# sick WHY: the cache must be bypassed: the origin answers every read, with the right data.
sick() {
	is state 1
	origin_mark
	check
	same "origin bytes, $1" "$(origin_delta)" $((8 << 20))
	above bypass_state 0
}

fresh 8 16
check
settle
data=$(($(./sbset "$C" get data_offset) / 512))
# Let one sub-block in each of three slots fail: their hits must be answered by the origin.
for slot in 1 20 100; do
	bad "+$((data + slot * 128 + 8))-$((data + slot * 128 + 15))"
done
check
is hit_errors 3
is bypass_retry 3
is bytes_valid $(((8 << 20) - 3 * 65536))
is state 0
# Each pass tries to fill the three sub-blocks again and fails: 16 errors end in bypass.
at_exit watch 0
watch 1
echo >$TRACE/trace
before=$(events) passes=0
while [[ $(field state) == 0 ]]; do
	((passes++ < 8)) || fail "not bypassed after $passes passes"
	check
	settle
done
(($(field fills_failed_cache) + $(field hit_errors) >= 16)) || fail "bypassed too early"
wait_for 5 grep -q 'state 0 -> 1: too many' $TRACE/trace || fail "no trace event: $(<$TRACE/trace)"
wait_for 10 evented "$before" || fail "no dm event"
sick "after 16 errors"
# A suspend and resume of the same table does not end the bypass.
dmsetup suspend --noudevsync nc
dmsetup resume --noudevsync nc
sick "after a reload"
stop
bad "-0-$(($(sectors "$C") - 1))"
# The slot table on the medium is still right, as a bypassed cache overwrites no slot: warm.
start
is loaded 5
check
settle
is bytes_valid $((8 << 20))
stop

# A superblock copy cannot be written at the start.
for sector in 8 1024; do
	bad "+$sector-$((sector + 7))"
	start
	sick "superblock at sector $sector"
	stop
	bad "-$sector-$((sector + 7))"
	start
	check
	settle
	stop
done
# A table page can be neither read nor written; page 0 describes all 128 blocks.
table=$(($(./sbset "$C" get 'area[0].offset') / 512))
bad "+$table-$((table + 7))"
start
is pages_damaged 1
sick "table page 0"
stop
bad "-$table-$((table + 7))"
start
is loaded 2
is bytes_valid $((8 << 20))
# A later commit cannot write the table pages: the module records in the superblock instead that the
# next start must not use the table.
length=$(($(./sbset "$C" get 'area[0].length') / 512))
bad "+$table-$((table + length - 1))"
dmsetup message nc 0 invalidate 8 8 || fail "invalidate"
sick "a page that a commit cannot write"
stop
bad "-$table-$((table + length - 1))"
start
is loaded 3
is blocks_used 0
check
settle
is bytes_valid $((8 << 20))
