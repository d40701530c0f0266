#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Messages about one of several cache devices: 'list', netlink and the kernel log must name the
# device. The log must name the device that is damaged or cannot be written, not one that failed
# earlier, and must report no fault when the user has emptied the cache.
# kernels: 6.12
# cpus: 1
. ./several.sh
. ./command.sh

# named TEXT DEV: fail unless the kernel log has TEXT about DEV and about no other device.
named() {
	dmesg | grep -q "cache device $(number "$2"):\? $1" || fail "not said of $2: $1: $(dmesg | tail -n 5)"
	same "devices that are named" "$(dmesg | grep "cache device [0-9:]* $1" | grep -vc "device $(number "$2"):\? ")" 0
	dmesg -c >/dev/null
}

# bad_blocks DEV +|- FIRST LAST: make these sectors fail all I/O, or work again.
bad_blocks() {
	echo "$2$3-$4" >"$NULLB/${1##*/}/badblocks" || fail badblocks
}

# refused_drop: the kernel cannot record an invalidation and bypasses the cache.
refused_drop() {
	dmsetup message nc 0 invalidate 0 8 || true
	is state 1
}

make_null O origin 4
./blockdata write "$O"
several 4 4 4
read -r C D E <<<"${members[*]}"
good create nc --origin "$O" --cache "$C" --cache "$D" --cache "$E" --block-size 64K --integrity crc32c
at_exit dm_gone nc
good -j list
expect cache "$C" cache_2 "$D" cache_3 "$E"
good list
[[ $out == *"$C +2"* ]] || fail "list: $out"
list=$(for device in "${members[@]}"; do
	number=$(number "$device")
	echo $((${number%:*} << 20 | ${number#*:}))
done)
same "devices of netlink" "$(./genl device-get name=nc | sed -n 's/^cache=//p')" "$list"

# The user has emptied the cache: no fault.
check
settle
good close nc
./blockdata write "$O" -g 2
dmesg -c >/dev/null
good open nc --origin "$O" --cache "$C" --on-change=drop
is loaded 2
is blocks_warm 0
dmesg | grep -q 'was emptied' || fail "the log does not say that it was emptied: $(dmesg)"
! dmesg | grep -q 'was not in use' || fail "a device is blamed: $(dmesg)"
check -g 2
settle
check -g 2
good close nc
good open nc --origin "$O" --cache "$C"
above blocks_warm 60

# A member returns other data than was written to it.
start=$(($(./sbset "$D" get data_offset) / 512))
dd if=/dev/urandom of="$D" bs=512 seek="$start" count=128 oflag=direct conv=fsync 2>/dev/null
dmesg -c >/dev/null
check -g 2 -b 128
settle
named '[0-9]* sectors from' "$D"
above damaged 0

# One member fails a read, another a write.
start=$(($(./sbset "$E" get data_offset) / 512))
bad_blocks "$E" + "$start" $((start + 127))
check -g 2 -b 128
bad_blocks "$E" - "$start" $((start + 127))
settle
above hit_errors 0
is state 0
dmesg -c >/dev/null
bad_blocks "$C" + 0 $(($(sectors "$C") - 1))
refused_drop
bad_blocks "$C" - 0 $(($(sectors "$C") - 1))
named 'is bypassed' "$C"
reload "$OPTIONS" || fail reload
is state 0
check -g 2 -b 128
settle
dmesg -c >/dev/null
bad_blocks "$E" + 0 2047
refused_drop
bad_blocks "$E" - 0 2047
named 'is bypassed' "$E"
