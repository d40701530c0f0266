#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 90
# A thousand create/read/remove cycles leave no memory, thread or reference behind.
. ./cache.sh

# memory WORD: from /proc/meminfo, KiB.
memory() {
	awk -v word="$1:" '$1 == word { print $2 }' /proc/meminfo
}

# What the module holds that can be seen one by one.
leaks() {
	grep -E 'nc_[a-z_]+\+|dm_io_client' /proc/vmallocinfo | grep -v module_alloc
	grep -l nearcache /proc/[0-9]*/comm 2>/dev/null
	[[ $(</sys/module/dm_nearcache/refcnt) == 0 ]] || echo "module references"
}

make_null O origin 8
make_null C local 16
format
table="read-only $O $C"
[[ -z $(leaks) ]] || fail "before the start: $(leaks)"
./dmcycle nc 50 "$(sectors "$O")" nearcache "$table" || fail "cycles"
drop_caches
before=$(memory Slab) percpu=$(memory Percpu)
./dmcycle nc $(($(times 1000) - 50)) "$(sectors "$O")" nearcache "$table" || fail "cycles"
drop_caches
after=$(memory Slab)
echo "slab $before -> $after KiB, per-CPU $percpu -> $(memory Percpu) KiB"
# One lost object of 4 KiB per cycle would be 3,800 KiB.
((after - before < 2048)) || fail "slab grew from $before to $after KiB"
(($(memory Percpu) - percpu < 256)) || fail "per-CPU memory grew"
[[ -z $(leaks) ]] || fail "left behind: $(leaks)"
# The cache was stopped cleanly each time, and is warm.
start
is loaded 2
above blocks_used 0
