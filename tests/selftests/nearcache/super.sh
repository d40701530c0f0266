#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# timeout: 240
# Give each superblock field invalid values: the kernel must refuse the table and name the field in
# the log. If one copy is damaged, it must use the other. It must refuse a device with two damaged
# copies, of another kind, or truncated.
# cpus: 1
. ./cache.sh

# accepted: load a table; false if the kernel refuses it. Sets said to the kernel log.
accepted() {
	local mark="try $((++tries))" rc=0
	echo "nearcache-test: $mark" >/dev/kmsg
	dmsetup load --noudevsync nc --table "$(line)" 2>/dev/null || rc=1
	said=$(dmesg | sed "1,/$mark\$/d")
	return $rc
}

# field_is FIELD VALUE TEXT: set FIELD in both copies and seal: the kernel must refuse with TEXT.
field_is() {
	local old
	old=$(./sbset "$C" get "$1") || fail "no field $1"
	[[ $old != "$2" ]] || fail "$1 is $2 already"
	./sbset "$C" set both "$1" "$2"
	! accepted || fail "accepted with $1 = $2"
	[[ $said == *"$3"* ]] || fail "$1 = $2: the log does not say '$3': $said"
	./sbset "$C" set both "$1" "$old"
	bad=$((bad + 1))
}

# sound LOADED: fail unless the device is accepted and still has all its cached data.
sound() {
	accepted || fail "refused: $said"
	dmsetup resume --noudevsync nc || fail "resume"
	is loaded "${1:-2}"
	is bytes_valid "$valid"
	origin_mark
	check
	same "origin bytes" "$(origin_delta)" 0
	dm_remove nc
	dmsetup create --noudevsync --notable nc
}

make_null O origin 8
make_null C local 16
./blockdata write "$O"
format
start
check
settle
valid=$(field bytes_valid)
stop
tries=0 bad=0
dmsetup create --noudevsync --notable nc

for value in 0 2 4294967295; do field_is version $value version; done
field_is checksum 1 checksum
field_is incompat 1 'area[3].length'
field_is incompat 2 stripe_count
for bit in 2 63; do field_is incompat $((1 << bit)) incompat; done
for value in 4 4294967295; do field_is state $value state; done
for value in 0 1 32768 98304 8388608; do field_is block_size $value block_size; done
for value in 0 2048 8192; do field_is subblock_size $value subblock_size; done
for field in origin_lbs cache_lbs; do
	for value in 0 513 131072; do field_is $field $value $field; done
	field_is $field 8192 subblock_size
done
field_is stripe_index 1 stripe_index
for value in 0 2 65535; do field_is stripe_count $value stripe_count; done
for value in $((1 << 40)) $((17 << 20)); do field_is device_size $value truncated; done
for value in 0 1048576; do field_is device_size $value data_offset; done
for value in 0 1 2147483649 18446744073709551615; do field_is slot_count $value slot_count; done
field_is slot_count 10000 slot_count
for field in sequence table_epoch commit_sequence; do field_is $field $((1 << 63)) $field; done
for value in 0 65536 $(($(./sbset "$C" get data_offset) + 512)) $((1 << 62)); do field_is data_offset $value data_offset; done
for value in 0 1 1000; do field_is table_pages $value table_pages; done
field_is intent_region 0 intent_region
field_is intent_region 1 intent_region
for value in 0 1 511 18446744073709551104; do field_is origin_size $value origin_size; done
# A superblock with a larger origin_size than the origin is refused; a smaller one means growth.
field_is origin_size $((9 << 20)) origin_size
field_is origin_fingerprint_type 5 origin_fingerprint_type
for i in 0 4 5; do
	for value in 4096 1048577 $((1 << 63)); do field_is "area[$i].offset" $value "area["; done
done
for i in {0..6}; do field_is "area[$i].version" 2 "area[$i]"; done
for i in 0 1 2 4 5; do
	field_is "area[$i].length" $((1 << 62)) "$( ((i)) && ((i != 2)) && echo "area[" )"
done
for i in 3 6 7; do field_is "area[$i].length" 4095 "area["; done
field_is 'magic[0]' 0 magic
field_is 'magic[7]' 0 magic
for text in label origin_id dataset_version; do
	./sbset "$C" set both $text 65
	! accepted || fail "accepted with $text without end"
	[[ $said == *"no end"* ]] || fail "$text without end: $said"
	./sbset "$C" set both $text 0
done
echo "$bad bad values refused"
sound

# In these fields any value must be accepted.
./sbset "$C" set both compat 18446744073709551615
./sbset "$C" set both created 18446744073709551615
sound
# Flip one bit of one copy, in a field that only the checksum protects: the other copy counts.
for copy in 0 1; do
	./sbset "$C" flip $copy created
	sound
done
./sbset "$C" flip both created
! accepted || fail "accepted with both copies damaged"
[[ $said == *checksum* ]] || fail "both damaged: $said"
./sbset "$C" flip both created
sound
# A device smaller than the device_size of the superblock is refused.
whole=$C
make_dm C cut "0 $(($(sectors "$whole") - 2048)) linear $whole 0"
! accepted || fail "accepted a truncated device"
[[ $said == *truncated* ]] || fail "truncated: $said"
