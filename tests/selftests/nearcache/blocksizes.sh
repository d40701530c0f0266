#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Logical blocks of 512 and 4096 bytes in all combinations; origins that end inside a block,
# inside a sub-block or inside a logical block of the cache device. The tail must also be cached.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# mixture ORIGIN_LBS CACHE_LBS SECTORS: test these logical block sizes; SECTORS: size of the origin.
mixture() {
	local unit=$(($1 / 512)) path=/dev/mapper/nc tail odd
	make_null base "base$number" 4 blocksize="$1"
	# null_blk makes only whole MiB: dm-linear cuts the origin to its size.
	make_dm O "origin$number" "0 $3 linear $base 0"
	./blockdata write "$O"
	format
	start
	same "logical block size" "$(blockdev --getss $path)" "$1"
	same "size" "$(sectors $path)" "$3"
	check -b "$unit:$((40 * unit))" -a "$unit" -r 100 -t 2
	check -b 128
	settle
	# All sub-blocks are valid; an incomplete last sub-block counts 4096 bytes as well.
	is bytes_valid $((($3 + 7) / 8 * 4096))
	is fill_origin_bytes $(($3 * 512))
	origin_mark "$base"
	check -b 128 -B
	check -b 128
	# Read the tail from the start of its block, then the last sub-block alone.
	tail=$(($3 / 128 * 128))
	check -s "$tail" -b 128 -a "$unit"
	tail=$(($3 / 8 * 8))
	((tail == $3)) || check -s "$tail" -b 8 -a "$unit"
	# Of each of these four reads, only an incomplete last logical block is not cached.
	odd=$(($1 < $2 ? $3 % ($2 / 512) * 512 : 0))
	(($(origin_delta "$base") <= 4 * odd)) ||
		fail "$(origin_delta "$base") origin bytes of cached data, $* (origin, cache device, sectors)"
	# A read that is not aligned to the logical blocks of the cache device goes to the origin,
	# which is asked for exactly the sectors of the read.
	if (($1 < $2)); then
		origin_mark "$base"
		check -b 1 -r 100
		(($(origin_delta "$base") <= 100 * 512)) || fail "$(origin_delta "$base") bytes for 100 sectors"
		above bypass_unaligned 0
		origin_mark "$base"
		check -s 3 -n 1024 -b 1024
		(($(origin_delta "$base") <= 8192)) || fail "$(origin_delta "$base") bytes for two odd ends"
	else
		check -b "$unit" -r 100
		is bypass_unaligned 0
	fi
	stop
	dm_remove "origin$number"
	number=$((number + 1))
}

number=0
make_null small small 8
make_loop large 8 4096
for cache in 512 4096; do
	C=$small
	((cache == 512)) || C=$large
	mixture 512 "$cache" 4096	# whole blocks
	mixture 512 "$cache" 4056	# whole sub-blocks
	mixture 512 "$cache" 4059	# an odd tail
	mixture 4096 "$cache" 4056
done
