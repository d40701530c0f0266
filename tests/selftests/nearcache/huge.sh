#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An origin beyond 2 TiB and a large sparse cache: each read must return the right data, and a block
# may cost at most 32 bytes of memory.
# kernels: 6.1
# cpus: 1
. ./cache.sh

TIB=$((2 ** 31)) # sectors

# read_part SECTOR: read 1 MiB from SECTOR on, cold and then cached.
read_part() {
	check -s "$1" -n 2048 -b 1:200 -a 1 -r 20
	check -s "$1" -n 2048
	settle
	origin_mark
	check -s "$1" -n 2048
	same "origin bytes at sector $1" "$(origin_delta)" 0
}

make_null O origin $((5 << 20))
make_null C local $((1 << 20))
# A number cut to 32 bits (of sectors, bytes or 256 KiB blocks) would confuse some of these parts.
parts=(0 $((TIB - 1024)) $((2 * TIB)) $((4 * TIB + 512)) $((4 * TIB + 2 ** 23)) $((5 * TIB - 2048)))
for at in "${parts[@]}"; do
	./blockdata write "$O" -s "$at" -n 2048
done
format "$C" "$O" 256K
start
same "size" "$(sectors /dev/mapper/nc)" $((5 * TIB))
for at in "${parts[@]}"; do
	read_part "$at"
done
blocks=$(field blocks)
((blocks > 4000000)) || fail "only $blocks blocks of 256 KiB in 1 TiB"
(($(field metadata_memory) <= 32 * blocks)) || fail "$(field metadata_memory) bytes of memory for $blocks blocks"
valid=$(field bytes_valid)
same "valid bytes" "$valid" $((${#parts[@]} << 20))
stop
start
is bytes_valid "$valid"
origin_mark
for at in "${parts[@]}"; do
	check -s "$at" -n 2048
done
same "origin bytes when warm" "$(origin_delta)" 0
# Data that was never written reads as zeros, as on the origin.
dd if=/dev/mapper/nc bs=64K skip=$((3 * TIB / 128)) count=1 iflag=direct 2>/dev/null | cmp -n 65536 - /dev/zero ||
	fail "never written, but not zero"
