#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Suspend, resume and reload under readers: the data must be right, and cached data must stay.
# kernels: 6.1
. ./cache.sh

# swap TABLE: load a table and activate it.
swap() {
	dmsetup load --noudevsync nc --table "$1" || fail "load '$1'"
	dmsetup resume --noudevsync nc || fail "resume"
	is state 0
}

fresh 16 24
before=$(dmsetup table nc)
verify_begin -b 1:256 -a 1 -r 200 -t 3
for ((i = 0; i < $(times 3); i++)); do
	dmsetup suspend --noudevsync nc || fail "suspend"
	dmsetup resume --noudevsync nc || fail "resume"
	# The table line that the kernel prints must be accepted in a reload.
	swap "$(dmsetup table nc)"
	swap "$(line '2 fill_memory 1048576')"
	is fill_memory_max 1048576
	swap "$(line '2 fill_memory 33554432')"
	is fill_memory_max 33554432
	swap "$before"
	# A table that is loaded and then cleared changes nothing.
	dmsetup load --noudevsync nc --table "$(line '2 fill_memory 2097152')" || fail "load"
	dmsetup clear --noudevsync nc || fail "clear"
	is fill_memory_max 67108864
done
verify_end
same "table" "$(dmsetup table nc)" "$before"
check
settle
is bytes_valid $((16 << 20))
is fill_origin_bytes $((16 << 20))
above commits 0
origin_mark
check
swap "$before"
check
same "origin bytes after a reload" "$(origin_delta)" 0
# Reloads kept the counters and the content: both belong to the cache, not to a table.
is loaded 1
is state 0
# A reload with another origin of the same size is refused: the cached data is of the old one.
make_null other other 16
./blockdata write "$other" -g 2
log_mark
! dmsetup load --noudevsync nc --table "$(line '' "$other")" 2>/dev/null || fail "another origin accepted"
log_since | grep -q 'belongs to another origin' || fail "the log does not say why"
dmsetup resume --noudevsync nc || fail "resume"
same "table" "$(dmsetup table nc)" "$before"
check
