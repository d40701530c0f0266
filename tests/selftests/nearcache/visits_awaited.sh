#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Requests that any user may send visit all caches without a lock. No cache may be freed during a
# visit. Probes record the begin and end of each visit, and when a cache is freed.
# kernels: 6.12
# when: soak
. ./kprobes.sh

make_second
echo mono >$TRACE/trace_clock
echo 16384 >$TRACE/buffer_size_kb
probe 'p:nc_visit dm_nearcache:dump_cache c=%di:x64'
probe 'r64:nc_left dm_nearcache:dump_cache'
probe 'p:nc_free dm_nearcache:nc_cache_free c=%di:x64'
echo >$TRACE/trace
echo 1 >$TRACE/events/kprobes/enable
ask -n 100 -d device-get
ask -n 100 -d device-get
./dmcycle nc2 "$(times 40)" "$size" "$type" "$words" || fail "create and remove"
asked
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
