#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Cache devices that do not belong together must be refused, or start cold. Cases: wrong order, a
# member missing, of another cache, named twice, in use elsewhere, and an older copy of any member,
# from any mode.
# kernels: 6.12
# cpus: 1
. ./several.sh

# filled: start a cache and read until all of the origin is cached.
filled() {
	start
	check -b 128
	settle
	check
	is blocks_used 64
}

make_null O origin 4
./blockdata write "$O"
several 4 4 4
format_several
read -r C D E <<<"${members[*]}"
filled
stop
refused 'stripe_index is 2, expected 1 at this place' "$C" "$E" "$D"
refused 'stripe_index is 1, expected 0' "$D" "$C" "$E"
refused 'stripe_count is 3, the table names 2' "$C" "$D"
refused 'stripe_count is 3, the table names 1' "$C"
make_null empty empty 4
refused 'stripe_count is 3, the table names 4' "$C" "$D" "$E" "$empty"
refused 'Origin and cache device are the same' "$C" "$D" "$O"
refused 'Two cache devices are the same device' "$C" "$D" "$D"
refused 'Two cache devices are the same device' "$C" "$C" "$D"
refused 'magic not found' "$C" "$D" "$empty"
# A member of another cache with as many members.
own=("${members[@]}")
several 4 4 4
format_several
refused 'belongs to another cache' "${own[0]}" "${own[1]}" "${members[2]}"
members=("${own[@]}")
C=${members[0]}
behind "$D" "$E"
# A member in use, or a copy of it, is refused as the cache device of another table.
start
copied "$D" "$empty"
log_mark
for device in "$D" "$E"; do
	! dm_create other "$(OPTIONS='' line '' "$O" "$device")" >/dev/null 2>&1 ||
		fail "$device was accepted twice"
	! dmsetup info other >/dev/null 2>&1 || dmsetup remove --noudevsync other
done
log_since | grep -q 'overlaps that of another' || fail "the log does not say why"
log_mark
! dmsetup load nc --table "$(line "4 member $E member $D")" 2>/dev/null || fail "reload in another order"
log_since | grep -q 'other cache devices' || fail "the log does not say why"
warm
stop

# older WHICH MODE: use a copy of one member from before its slots got other blocks: cold.
older() {
	local device=${members[$1]} MODE=$2
	format_several
	MODE=$2 start
	check -b 128
	settle
	stop
	copied "$device" "$empty"
	start
	dmsetup message nc 0 invalidate all || fail "invalidate"
	# Read in another order, so that slots get other blocks.
	dd if=/dev/mapper/nc of=/dev/null bs=1M skip=2 iflag=direct 2>/dev/null
	check -b 128
	settle
	stop
	copied "$empty" "$device"
	cold 'was not in use with the others'
	stop
	# This cold start makes the members belong together again.
	start
	warm
	stop
}

for mode in read-only writearound; do
	for which in 0 1 2; do
		older $which $mode
	done
done

# The first member is a copy from before a write session in which slots got other blocks; the others
# are copies from this session, as after a power cut. The table of the first is stale: cold.
make_null X crashed1 4
make_null Y crashed2 4
./blockdata write "$O"
format_several
start
check -n 4096 -b 128
settle
stop
copied "$C" "$empty"
MODE=writearound start
dmsetup message nc 0 invalidate all || fail "invalidate"
check -s 4096 -b 128
settle
check -b 128
settle
# Copy while no I/O is in flight.
copied "$D" "$X"
copied "$E" "$Y"
stop
copied "$X" "$D"
copied "$Y" "$E"
copied "$empty" "$C"
cold 'was not in use with the others'
stop
