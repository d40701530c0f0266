#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# timeout: 240
# Hundreds of create/read/remove cycles must leave no memory, thread or reference behind.
. ./cache.sh

# memory WORD: print this value of /proc/meminfo, in KiB.
memory() {
	awk -v word="$1:" '$1 == word { print $2 }' /proc/meminfo
}

# leaks: print memory, threads and references that the module still holds.
leaks() {
	grep -E '\[dm_nearcache\]' /proc/vmallocinfo | grep -v module_alloc
	# Of kworkers only rescuers count: others keep the name of the last queue that they served.
	grep -hE '^(nearcache|kworker/R-nearc)' /proc/[0-9]*/comm 2>/dev/null
	[[ $(</sys/module/dm_nearcache/refcnt) == 0 ]] || echo "module references"
}

# cycle COUNT: run COUNT cycles, on eight caches of one origin in parallel, because a cycle spends
# most of its time waiting for grace periods of device-mapper.
cycle() {
	local i pids=()
	for i in {1..8}; do
		./dmcycle "nc$i" $(($1 / 8)) "$(sectors "$O")" nearcache "read-only $O ${caches[i]}" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || fail "a cycle failed"
	done
}

make_null O origin 8
caches=()
for i in {1..8}; do
	make_null "caches[$i]" "local$i" 4
	format "${caches[i]}"
done
[[ -z $(leaks) ]] || fail "before the start: $(leaks)"
cycle 48
drop_caches
before=$(memory Slab) percpu=$(memory Percpu)
cycle "$(times 320)"
# shrunk: has slab memory come back to nearly its first size? One leaked object of 4 KiB per cycle
# would be 1,280 KiB; objects that wait for a grace period are freed a moment later. A debug kernel
# delays freeing, to find late users: there leaks.sh looks for leaks instead.
shrunk() {
	drop_caches
	after=$(memory Slab)
	[[ -e /sys/kernel/debug/kmemleak ]] || ((after - before < 1024))
}
wait_for 10 shrunk || fail "slab grew from $before to $after KiB"
echo "slab $before -> $after KiB, per-CPU $percpu -> $(memory Percpu) KiB"
(($(memory Percpu) - percpu < 256)) || fail "per-CPU memory grew"
[[ -z $(leaks) ]] || fail "left behind: $(leaks)"
# Each cycle stopped its cache cleanly, so the next start is warm.
start nc '' "$O" "${caches[8]}"
is loaded 2
above blocks_used 0
