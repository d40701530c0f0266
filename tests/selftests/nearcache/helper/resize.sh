#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin grows while the device is in use ('resize'), and while it is closed ('open --grow').
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

# grow SECTORS: set the size of the origin.
grow() {
	dmsetup load origin --table "0 $1 linear $volume 0" && dmsetup resume origin
}

# size_is SECTORS: fail unless the device has this size.
size_is() {
	[[ $(blockdev --getsz /dev/mapper/nc) == "$1" ]] || fail "device has $(blockdev --getsz /dev/mapper/nc) sectors, not $1"
}

# Odd sizes, so that the last sub-block is short.
first=16387 second=20483 third=30000 fourth=32768
make_null volume volume 16
make_null C local 24
./blockdata write "$volume"
make_dm O origin "0 $first linear $volume 0" --uuid origin-1
at_exit dm_gone nc
good create nc --origin "$O" --cache "$C" --block-size 64K --mode writethrough --fill-memory 8M
check
settle
size_is "$first"

good resize nc
[[ $out == *'unchanged'*'has not grown'* ]] || fail "resize of what did not grow: $out"
good resize nc -j
json_keys name origin size size_before resized started dry_run
expect resized false size_before $((first * 512))
bad 4 "no device 'nobody'" resize nobody
dmsetup suspend nc
bad 5 "'dmsetup resume nc'" resize nc
good resize nc --force -j
expect resized false started true
check

# The origin grows while the device is in use.
grow "$second"
good resize nc --dry-run -j
expect resized false dry_run true size $((second * 512))
size_is "$first"
# Between growth and resize, settings can still be changed.
good set nc mode=read-only
good set nc mode=writethrough
size_is "$first"
check -n "$first"
verify_begin -b 1:64 -r 100 -n "$first"
valid=$(field bytes_valid)
good resize nc -j
expect resized true size $((second * 512)) size_before $((first * 512))
verify_end
size_is "$second"
is mode 2
is fill_memory_max 8388608
# The resize may drop at most the short last sub-block.
(($(field bytes_valid) >= valid - 4096)) || fail "valid: $valid, then $(field bytes_valid)"
check
settle
grow "$first"
bad 4 "an origin can only grow" resize nc
size_is "$second"
grow "$second"
good close nc
good super "$C" -j
expect origin_size $((second * 512)) super_state clean

# The origin grows while the device is closed.
grow "$third"
bad 4 'open it with --grow' open nc --cache "$C"
grow "$first"
bad 4 "has $((first * 512)) bytes" open nc --cache "$C" --grow
grow "$third"
good open nc --cache "$C" --grow -j
expect size $((third * 512)) content warm
size_is "$third"
is blocks_warm "$(field blocks_used)"
above blocks_warm 0
check
settle
good close nc
good open nc --cache "$C"
check
good close nc
good super "$C" -j
expect origin_size $((third * 512))
# open --grow must refuse if the old part of the origin has changed.
./blockdata write "$volume" -g 2 -s $((third - 100)) -n 100
grow "$fourth"
bad 4 'was changed' open nc --cache "$C" --grow
good open nc --cache "$C" --grow --dataset-version v2 -j
expect content dropped
size_is "$fourth"
check -n $((third - 100))
good close nc
# With another dataset version the origin may have any size.
grow "$second"
bad 4 "has $((second * 512)) bytes" open nc --cache "$C"
good open nc --cache "$C" --dataset-version v3
size_is "$second"
check
good close nc
