#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Trace events must agree with the counters, and their fields must be right, above all the process
# that a piece of a read belongs to, and the latency.
# kernels: 6.12
# cpus: 1
. ./cache.sh
TRACE=/sys/kernel/tracing
EVENTS=$TRACE/events/nearcache
MB=$((1 << 20))

# watch 0|1: switch the module's events off or on.
watch() {
	trace_events "$1" nearcache
}

# traced PATTERN: print the number of matching events.
traced() {
	grep -cE -- "$1" "$TMPDIR/trace"
}

# taken: stop tracing and move the trace to $TMPDIR/trace.
taken() {
	settle
	watch 0
	cp $TRACE/trace "$TMPDIR/trace"
	echo >$TRACE/trace
}

# pieces EVENT VERDICT [FIELDS]: print the number of such events.
pieces() {
	traced "nearcache_$1: $devno [0-9]+ \+ [0-9]+ opf=0x[0-9a-f]+ $2 ${3:-label=0 cgroup=[0-9]+ pid=[0-9]+ tid=[0-9]+} latency="
}

# told_sectors PATTERN: print the sectors of matching pieces; a partial hit has two pieces.
told_sectors() {
	grep -E -- "$1" "$TMPDIR/trace" |
		awk '{ for (i = 1; i < NF; i++) if ($i == "+") n += $(i + 1) } END { print n + 0 }'
}

# latencies VERDICT: print the latencies of completed pieces, in ns.
latencies() {
	sed -nE "s/.*nearcache_done: .* $1 label=.* latency=([0-9]+) error=0\$/\1/p" "$TMPDIR/trace"
}

# Each verdict must appear as often as its counter has it; each piece must complete once with it.
counted() {
	local kind
	for kind in hit:hits miss:misses join:joins bypass-full:bypass_full partial:partials; do
		above "${kind#*:}" 0
	done
	same "partial hits" "$(pieces access partial)" "$(field partials)"
	same "hits" $(($(pieces access hit) + $(pieces access partial))) "$(field hits)"
	for kind in miss:misses join:joins bypass-full:bypass_full; do
		same "events ${kind%:*}" "$(pieces access "${kind%:*}")" "$(field "${kind#*:}")"
	done
	for kind in hit partial miss join bypass-full; do
		same "pieces that are over, $kind" "$(pieces 'done' $kind)" "$(pieces access $kind)"
	done
	same "latencies of pieces that are not over" "$(traced 'nearcache_access: .* latency=0 error=0$')" \
		"$(traced nearcache_access:)"
	same "errors" "$(traced 'nearcache_done: .* error=0$')" "$(traced nearcache_done:)"
	# The latency of the origin is 2 ms, so a miss takes longer and a hit less.
	(($(latencies miss | sort -n | head -1) >= 2000000)) || fail "a miss took $(latencies miss | sort -n | head -1) ns"
	(($(latencies hit | sort -n | head -1) < 2000000)) || fail "a hit took $(latencies hit | sort -n | head -1) ns"
	(($(latencies hit | sort -n | head -1) > 0)) || fail "a hit took no time"
}

# The fields for process, thread, control group and label.
whose() {
	local job group pid who id loop
	make_group job +io
	group=$(stat -c %i "$job")
	./genl range-add name=nc range="start=0,length=$MB,label=first" range="start=$MB,length=$MB,label=second" >/dev/null ||
		fail "ranges"
	watch 1
	# shellcheck disable=SC2016 # the shell that is the reader
	pid=$(in_group "$job" bash -c 'echo $$ && exec ./blockdata read /dev/mapper/nc -s 0 -n 4096 -b 64 >/dev/null')
	taken
	id=$(./genl -d label-get name=nc | awk -F= '$1 == "label.name" { name = $2 } $1 == "label.id" && name == "second" { print $2 }')
	[[ $id ]] || fail "no id: $(./genl -d label-get name=nc)"
	who="cgroup=$group pid=$pid tid=[0-9]+"
	same "sectors of the second one" "$(told_sectors "nearcache_access: .* label=$id $who")" 2048
	same "sectors of both" "$(told_sectors "nearcache_access: .* label=[1-9][0-9]* $who")" 4096
	same "sectors of what is over" "$(told_sectors "nearcache_done: .* label=[1-9][0-9]* $who latency=[1-9]")" 4096
	# The kernel thread of a loop device reads for a process.
	modprobe loop || fail "no loop devices"
	loop=$(losetup -f --show --direct-io=on /dev/mapper/nc) || fail "losetup"
	at_exit losetup -d "$loop"
	watch 1
	in_group "$job" ./blockdata read "$loop" -s 0 -n 4096 -b 64 >/dev/null
	taken
	# The loop device may split the reads, but all must be traced for the group of the reader.
	(($(traced "nearcache_access: .* cgroup=$group pid=") >= 32)) || fail "for the group: $(tail -n 5 "$TMPDIR/trace")"
	same "reads of the reader" "$(traced "nearcache_access: .* cgroup=$group pid=$pid")" 0
}

make_null O origin 16 completion_nsec=2000000
make_null C local 4
./blockdata write "$O"
format
for event in access 'done' fill_start fill_done evict mode; do
	[[ -d $EVENTS/nearcache_$event ]] || fail "no event nearcache_$event"
done
echo 8192 >$TRACE/buffer_size_kb
echo >$TRACE/trace
at_exit watch 0
watch 1
start
devno=$(number /dev/mapper/nc)
devno=${devno/:/,}
# Cause misses, hits, joins and bypasses; then evict idle blocks.
check -n 512 -b 128 -t 4 -c
check -n 2048
check -b 1:200 -a 1 -r 60
for i in {1..24}; do
	check -s 16384 -n 4096 -b 512
done
# Suspend: an eviction is traced before it is counted, and after a suspend both have happened.
dmsetup suspend --noudevsync nc || fail "suspend"
taken
is bypass_memory 0
same "mode" "$(traced "nearcache_mode: $devno state 2 -> 0: .")" 1
counted
same "fill_start" "$(traced "nearcache_fill_start: $devno [0-9]+ \+ [0-9]+ slot=[0-9]+\$")" "$(field misses)"
same "fill_done" "$(traced "nearcache_fill_done: $devno [0-9]+ \+ [0-9]+ slot=[0-9]+ published=1 error=0\$")" "$(field fills)"
same "evict" "$(traced "nearcache_evict: $devno [0-9]+ slot=[0-9]+ valid=0x[0-9a-f]+\$")" "$(field evictions)"
above evictions 0
# The sectors of all traced misses must add up to the counter.
same "bytes of misses" "$(($(told_sectors 'nearcache_access:.* miss ') * 512))" "$(field miss_bytes)"
dmsetup resume --noudevsync nc || fail "resume"
whose
