#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Trace events tell what the counters count, with fields that fit.
# kernels: 6.12
. ./cache.sh
TRACE=/sys/kernel/tracing
EVENTS=$TRACE/events/nearcache

# watch 0|1: the events of the module.
watch() {
	trace_events "$1" nearcache
}

# traced PATTERN: events of the kind.
traced() {
	grep -cE -- "$1" "$TMPDIR/trace"
}

make_null O origin 16 completion_nsec=2000000
make_null C local 4
./blockdata write "$O"
format
for event in access fill_start fill_done evict mode; do
	[[ -d $EVENTS/nearcache_$event ]] || fail "no event nearcache_$event"
done
echo 8192 >$TRACE/buffer_size_kb
echo >$TRACE/trace
at_exit watch 0
watch 1
start
# Misses, hits, joins, bypasses; then idle blocks give way.
check -n 512 -b 128 -t 4 -c
check -n 2048
check -b 1:200 -a 1 -r 60
for i in {1..24}; do
	check -s 16384 -n 4096 -b 512
done
settle
watch 0
cp $TRACE/trace "$TMPDIR/trace"
devno=$(number /dev/mapper/nc)
devno=${devno/:/,}
is bypass_memory 0
same "mode" "$(traced "nearcache_mode: $devno state 2 -> 0: .")" 1
for kind in hit:hits miss:misses join:joins bypass-full:bypass_full; do
	same "events ${kind%:*}" "$(traced "nearcache_access: $devno [0-9]+ \+ [0-9]+ opf=0x[0-9a-f]+ ${kind%:*}\$")" "$(field "${kind#*:}")"
	above "${kind#*:}" 0
done
same "fill_start" "$(traced "nearcache_fill_start: $devno [0-9]+ \+ [0-9]+ slot=[0-9]+\$")" "$(field misses)"
same "fill_done" "$(traced "nearcache_fill_done: $devno [0-9]+ \+ [0-9]+ slot=[0-9]+ published=1 error=0\$")" "$(field fills)"
same "evict" "$(traced "nearcache_evict: $devno [0-9]+ slot=[0-9]+ valid=0x[0-9a-f]+\$")" "$(field evictions)"
above evictions 0
# Sectors of all misses together are what the fills' readers asked for.
sum=$(awk '/nearcache_access:.* miss$/ { for (i = 1; i <= NF; i++) if ($i == "+") n += $(i + 1) } END { print n * 512 }' "$TMPDIR/trace")
same "bytes of misses" "$sum" "$(field miss_bytes)"
