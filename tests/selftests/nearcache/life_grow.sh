#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin grows, under readers and after a clean stop, in each mode; its old and new end lie
# inside a sub-block. Cached data must stay cached and right, and the zeros that padded the
# sub-block of the old end must not be read as data.
# kernels: 6.12
# cpus: 1
. ./cache.sh

# origin SECTORS: give the origin this size.
origin() {
	local table="0 $1 linear $base 0"
	if dmsetup info end >/dev/null 2>&1; then
		dmsetup load --noudevsync end --table "$table" && dmsetup resume --noudevsync end
	else
		make_dm O end "$table"
	fi || fail "origin of $1 sectors"
}

# right GENERATION FIRST COUNT [BLOCK]: check the data twice by the cache and once on the origin.
right() {
	for _ in 1 2; do
		./blockdata read /dev/mapper/nc -g "$1" -s "$2" -n "$3" -b "${4:-8}" >/dev/null ||
			fail "sectors $2 + $3 (line ${BASH_LINENO[0]})"
		settle
	done
	./blockdata read "$base" -g "$1" -s "$2" -n "$3" >/dev/null || fail "sectors $2 + $3 of the origin"
}

old=2051 new=3077 newest=4091 base=''
make_null base origin 2
make_null C local 8
for mode in read-only writethrough; do
	./blockdata write "$base"
	origin $old
	format
	MODE=$mode
	start
	check -n $old
	settle
	is bytes_valid $(((old + 7) / 8 * 4096))
	if [[ $mode != read-only ]]; then
		# Write to the short last sub-block.
		./blockdata write /dev/mapper/nc -g 2 -s $((old - 2)) -n 2
		right 2 $((old - 2)) 2 2
		./blockdata write /dev/mapper/nc -s $((old - 2)) -n 2
		right 1 $((old - 8)) 8
	fi
	verify_begin -n $old -b 1:64 -a 1 -r 20
	origin $new
	# Without a new table the device keeps its size.
	same "size" "$(sectors /dev/mapper/nc)" $old
	before=$(field fill_origin_bytes)
	reload || fail "reload of the longer table"
	same "size" "$(sectors /dev/mapper/nc)" $new
	verify_end >/dev/null
	# Read the sectors around the old end, in one read and one by one.
	right 1 $((old - 16)) 32 32
	right 1 $((old - 16)) 32 1
	check -n $((old - 8))
	settle
	(($(field fill_origin_bytes) - before <= 5 * 4096)) || fail "the cache was lost"
	check
	if [[ $mode != read-only ]]; then
		./blockdata write /dev/mapper/nc -g 2 -s $((new - 9)) -n 9
		right 2 $((new - 9)) 9
	fi
	settle
	valid=$(field bytes_valid)
	stop
	# The origin grows while the cache is stopped.
	origin $newest
	start
	same "size" "$(sectors /dev/mapper/nc)" $newest
	is loaded 2
	((valid - $(field bytes_valid) <= 4096)) || fail "$(field bytes_valid) bytes of $valid are left"
	check -n $((new - 9))
	[[ $mode == read-only ]] || right 2 $((new - 9)) 9
	check -s $new
	[[ $mode != read-only ]] || right 1 $((new - 16)) 32 1
	# A shorter table and a smaller origin are refused.
	! dmsetup load --noudevsync nc --table "0 $old nearcache $mode $O $C" 2>/dev/null || fail "shorter"
	dmsetup clear --noudevsync nc
	stop
	origin $new
	! dm_create nc "$(line)" >/dev/null 2>&1 || fail "smaller origin accepted"
	origin $newest
	start
	is loaded 2
	check -n $((new - 9))
	stop
done

# Another host grows the origin and writes to it, which the fingerprint of the ends shows. A
# read-only session must then drop all cached data, at the first growth and at the next.
generation=1
./blockdata write "$base"
origin $old
format
MODE=read-only
start
for size in $new $newest; do
	check -n $old -g $generation
	settle
	above bytes_valid 0
	generation=$((generation + 1))
	./blockdata write "$base" -g $generation
	origin "$size"
	reload || fail "reload of the longer table"
	is bytes_valid 0
	check -g $generation
	settle
done
stop
start
is loaded 2
check -g $generation
