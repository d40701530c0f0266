#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache on several devices: each device must get its share of the fills; after a stop the cache
# must be as warm as on one device; and the table line that the kernel prints must reload.
# kernels: 6.12
# cpus: 1
. ./several.sh

# shares: fail unless the fills wrote to each device in proportion to its slots.
shares() {
	local i n=${#members[@]} blocks share
	blocks=$(field blocks)
	for ((i = 0; i < n; i++)); do
		share=$(((blocks + n - 1 - i) / n * 65536))
		written=$(($(awk '{ print $7 }' "$(sys_block "${members[i]}")/stat") * 512 - before[i]))
		((written >= share && written < share + (4 << 20))) ||
			fail "device $i got $written bytes, its share is $share"
	done
}

mark() {
	local device
	before=()
	for device in "${members[@]}"; do
		before+=($(($(awk '{ print $7 }' "$(sys_block "$device")/stat") * 512)))
	done
}

# all SIZES: create, fill, reload, stop and start again.
all() {
	local table
	several "$@"
	format_several
	start
	is loaded 1
	mark
	# Read as much of the origin as there are slots.
	dd if=/dev/mapper/nc of=/dev/null bs=64k count="$(field blocks)" iflag=direct 2>/dev/null
	settle
	shares
	table=$(dmsetup table nc)
	[[ $table == *" $((2 * ($# - 1))) member "* ]] || fail "no members in '$table'"
	dmsetup load nc --table "$table" && dmsetup resume nc || fail "the table does not reload"
	same table "$(dmsetup table nc)" "$table"
	check
	stop
	start
	is loaded 2
	is blocks_warm "$(field blocks_used)"
	# All slots are warm except those that reclaim keeps free.
	above blocks_warm $(($(field blocks) * 9 / 10))
	check
	is slots_dropped 0
	stop
}

make_null O origin 24
./blockdata write "$O"
all 8 8
all 12 8 16

# One member has 4096-byte logical blocks: reads not aligned to these come from the origin.
make_null C member0 16
make_null D member1 16 blocksize=4096
members=("$C" "$D")
behind "$D"
format_several
start
check -b 1
settle
check
stop

# With checksums on both members.
format_several --integrity crc32c
start
check -b 128
settle
check
is damaged 0
stop
start
is loaded 2
check
dmsetup message nc 0 scrub start 0 origin || fail "scrub"
over() {
	[[ $(field scrub_left) == 0 ]]
}
wait_for 60 over || fail "the scrub does not end"
is damaged 0
stop
