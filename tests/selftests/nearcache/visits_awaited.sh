#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Requests that any user may send visit all caches without a lock. No cache may be freed during a
# visit. Probes record the begin and end of each visit, and when a cache is freed.
# kernels: 6.12
. ./cache.sh
TRACE=/sys/kernel/tracing

no_probes() {
	echo 0 >$TRACE/events/kprobes/enable
	echo >$TRACE/kprobe_events
	echo local >$TRACE/trace_clock
}

probe() {
	echo "$1" >>$TRACE/kprobe_events || fail "no probe $1"
}

# asking: dump all devices as user 1000 until $TMPDIR/enough exists.
asking() {
	while [[ ! -e $TMPDIR/enough ]]; do
		./genl -u 1000 -n 100 -d device-get >/dev/null || return 1
	done
}

make_null O2 second 8
make_null C2 other 12
fresh 4 12
format "$C2" "$O2"
read -r _ size type words <<<"$(line '' "$O2" "$C2")"
at_exit no_probes
echo mono >$TRACE/trace_clock
echo 16384 >$TRACE/buffer_size_kb
echo >$TRACE/kprobe_events
probe 'p:nc_visit dm_nearcache:dump_cache c=%di:x64'
probe 'r64:nc_left dm_nearcache:dump_cache'
probe 'p:nc_free dm_nearcache:nc_cache_free c=%di:x64'
echo >$TRACE/trace
echo 1 >$TRACE/events/kprobes/enable
for i in 1 2; do
	asking &
	pids+=($!)
done
./dmcycle nc2 "$(times 40)" "$size" "$type" "$words" || fail "create and remove"
touch "$TMPDIR/enough"
for pid in "${pids[@]}"; do
	wait "$pid" || fail "a request was not answered"
done
echo 0 >$TRACE/events/kprobes/enable
awk '$5 == "nc_visit:" { visit[$1] = $NF; visits[$NF]++ }
	$5 == "nc_left:" { delete visit[$1] }
	$5 == "nc_free:" {
		frees++
		visited += visits[$NF]
		for (task in visit)
			if (visit[task] == $NF)
				early++
	}
	END {
		printf "%d caches freed, after %d visits\n", frees, visited
		if (early)
			printf "%d freed during a visit\n", early
		exit early || frees < 20 || visited < 20
	}' $TRACE/trace || fail "a cache was freed during a visit, or too few were visited"
