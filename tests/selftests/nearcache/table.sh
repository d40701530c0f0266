#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The interface to device-mapper: the printed table line must reload, and the status line must be as
# the uapi header has it; also queue limits, dm-stats, and the read-only flag.
# kernels: 6.12
# cpus: 1
. ./cache.sh

# queue WORD [DEV]: print this queue attribute.
queue() {
	cat "$(sys_block "${2:-/dev/mapper/nc}")/queue/$1"
}

make_null O origin 8
make_null C local 16
./blockdata write "$O"
format "$C" "$O" 256K
numbers="$(number "$O") $(number "$C")"
for options in '' '2 fill_memory 1048576' '2 fill_memory 1099511627776' '2 cache_timeout 0' \
	'6 fill_memory 1048576 cache_timeout 600000 origin_timeout 86400'; do
	start nc "$options"
	table=$(dmsetup table nc)
	same table "$table" "0 $(sectors "$O") nearcache read-only $numbers${options:+ $options}"
	stop
	make_dm path nc "$table"
	same "table of its own table" "$(dmsetup table nc)" "$table"
	stop
done
start nc '0'
words=$(dmsetup status nc | wc -w)
same "words of the status line" "$words" $((${#NC_NAMES[@]} + 3))
[[ $(dmsetup status nc) =~ ^0\ [0-9]+\ nearcache(\ [0-9]+)+$ ]] || fail "status: $(dmsetup status nc)"
is status_version 5
is mode 0
is state 0
is reason 0
is block_size 262144
is subblock_size 4096
is fill_memory_max $((64 << 20))
# Reading the status must cause no I/O.
ios="$(origin_read_ios "$O") $(origin_read_ios "$C") $(origin_write_ios "$C")"
for i in {1..5}; do
	dmsetup status nc >/dev/null
	dmsetup table nc >/dev/null
done
same "I/O of status" "$(origin_read_ios "$O") $(origin_read_ios "$C") $(origin_write_ios "$C")" "$ios"

same "logical block size" "$(queue logical_block_size)" 512
# The same optimal I/O size as the origin: a larger one would add readahead for mapped files.
same "optimal I/O size" "$(queue optimal_io_size)" "$(queue optimal_io_size "$O")"
same "read-only" "$(blockdev --getro /dev/mapper/nc)" 1
same "flag" "$(dmsetup info -c --noheadings -o attr nc | cut -c 4)" r

dmsetup stats create nc --bounds 1ms,100ms >/dev/null || fail "dm-stats refused"
check
dmsetup message nc 0 @stats_print 0 >"$TMPDIR/stats" || fail "no statistics"
read -r _ reads _ < "$TMPDIR/stats"
((reads > 0)) || fail "dm-stats counted nothing: $(<"$TMPDIR/stats")"
sum=0
while read -r line; do
	histogram=${line##* }
	for count in ${histogram//:/ }; do
		sum=$((sum + count))
	done
done <"$TMPDIR/stats"
((sum == reads)) || fail "dm-stats: $sum in the histogram, $reads reads"
