#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dmsetup rename and wipe_table behind the command: status, close and open say what happened and
# what to do. A zoned device is refused by name.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

make_null O origin 24
make_null C local 16
at_exit rm -f /var/lib/nearcache/pins/nc.json
at_exit dm_gone nc
at_exit dm_gone other
good create nc --origin "$O" --cache "$C"
good pin nc 0-1M --no-load

dmsetup rename nc other || fail "rename"
told="device 'other' has the cache of 'nc': if dmsetup renamed it, 'dmsetup rename other nc' undoes that"
bad 4 "$told" status nc
bad 4 "$told" close nc
bad 5 "$told" open nc --origin "$O" --cache "$C"
bad 4 "the pins of device 'other' are recorded as those of 'nc'" pin other --refresh
good status other -j
expect renamed_from nc
dmsetup rename other nc || fail "rename back"
good pin nc --refresh -j
expect pins 1 pinned_again 0 unrecorded_ranges 0

dmsetup wipe_table nc || fail "wipe_table"
good status nc
[[ $out == *"no-table"*"another table replaced that of the cache"* ]] || fail "status: $out"
bad 5 "another table replaced that of the cache, as 'dmsetup wipe_table' does: 'nearcache close nc'" \
	open nc --origin "$O" --cache "$C"
bad 4 "has no table: close it and open it again" pin nc 0-1M
run close nc
[[ $rc == 0 && $err == *"another table replaced that of the cache"* ]] || fail "close: $err"
good open nc --origin "$O" --cache "$C" -j
expect pins 1
good close nc

make_null Z zoned 64 zoned=1 zone_size=4
bad 4 "cache device '$Z' is a zoned device" create zoned --origin "$O" --cache "$Z"
bad 4 "origin '$Z' is a zoned device" create zoned --origin "$Z" --cache "$C" --force
bad 4 "'$Z' is a zoned device" create zoned --origin "$O" --cache "$C" --cache "$Z" --force
