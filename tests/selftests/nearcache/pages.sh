#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Damage in the slot table: a start must drop and count the damaged page or slot, keep the rest
# warm, and serve no wrong data.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# damaged PAGES SLOTS VALID: start; fail unless PAGES and SLOTS are dropped and VALID bytes cached.
damaged() {
	start
	is pages_damaged "$1"
	is slots_dropped "$2"
	is bytes_valid "$3"
	check -b 120 -a 1 -t 2
	check
	settle
	stop
	# The stop of this session repairs the damage: the next start finds all cached.
	start
	is loaded 2
	is pages_damaged 0
	is slots_dropped 0
	is bytes_valid "$all"
	stop
}

# slot N FIELD VALUE: change a field of slot N in the table.
slot() {
	./sbset "$C" slot "$1" set "$2" "$3" || fail "sbset"
}

all=$((24 << 20))
one=65536
make_null O origin 24
make_null C local 32
./blockdata write "$O"
format
start
check
settle
# A page describes 168 slots; 384 slots are pages 0 and 1, and 48 slots of page 2.
is blocks_used 384
stop
mapfile -t used < <(./sbset "$C" used)
same "slots in the table" "${#used[@]}" 384

for copy in 0 1; do
	./sbset "$C" page 1 flip "$copy"
	damaged 1 0 $((all - 168 * one))
done
./sbset "$C" page 0 flip 0
./sbset "$C" page 2 flip 0
./sbset "$C" page 2 flip 1
damaged 2 0 $((168 * one))

slot 5 origin_block 384
slot 6 origin_block 1099511627776
slot 7 origin_block 18446744073709551614
damaged 0 3 $((all - 3 * one))
slot 200 valid 0x10001		# a block has 16 sub-blocks
slot 201 valid 0xffffffffffffffff
slot 202 valid 0
slot 203 flags 2
slot 204 flags 0x80000000
damaged 0 5 $((all - 5 * one))
# Two slots with one block: the slot with the higher generation counts, in either order.
block=$(./sbset "$C" slot 10 get origin_block)
slot 10 generation 7
slot 300 generation 9
dd if=/dev/zero of="$C" bs=4096 count=16 seek=$((($(./sbset "$C" get data_offset) + 10 * one) / 4096)) oflag=direct 2>/dev/null
slot 300 origin_block "$block"
valid_origin=$(./sbset "$C" slot 300 get origin_block)
same "sbset" "$valid_origin" "$block"
# Slot 300 holds the data of another block: copy the data of $block there.
dd if="$O" of="$C" bs=4096 count=16 skip=$((block * 16)) iflag=direct oflag=direct \
	seek=$((($(./sbset "$C" get data_offset) + 300 * one) / 4096)) 2>/dev/null
damaged 0 1 $((all - one))

# Pages of an older epoch count as empty.
./sbset "$C" set both table_epoch 99
start
is blocks_used 0
is bytes_valid 0
check
