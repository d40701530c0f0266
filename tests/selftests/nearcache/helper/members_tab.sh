#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache on several devices in nearcachetab, opened by the path of its first device or by its uuid.
# If a device is missing, or a copy of a device is present, nc must pass through and wipe nothing.
# kernels: 6.12
# cpus: 1
. ./several.sh
. ./command.sh

says() {
	echo "nc $O $1" >"$T"
}

opened() {
	says "$1"
	good open --all --tab "$T"
	is state 0
	above blocks_warm 0
	check
	good close nc
}

passes() {
	says "$2"
	run open --all --tab "$T"
	[[ $rc == 0 && $err == *"$1"* ]] || fail "open --all: $rc $out $err"
	[[ $(dmsetup table nc) == *" linear "* ]] || fail "no pass-through: $(dmsetup table nc)"
	check
	good close nc
}

make_null O origin 4
./blockdata write "$O"
several 4 4 4
read -r C D E <<<"${members[*]}"
T=$TMPDIR/tab
good create nc --origin "$O" --cache "$C" --cache "$D" --cache "$E" --block-size 64K
at_exit dm_gone nc
check
settle
good close nc
uuid=$(nearcache super "$C" -j | sed -n 's/^ *"uuid": "\(.*\)",/\1/p')
opened "$C"
opened "UUID=$uuid"
# The second member alone does not identify the cache.
passes 'member 2 of 3' "$D"
make_null X copy 4
copied "$E" "$X"
passes 'carry the same part' "$C"
copied "$C" "$X"
passes 'carry' "UUID=$uuid"
passes 'both carry member 1' "$C"
dd if=/dev/zero of="$X" bs=1M count=1 oflag=direct 2>/dev/null
./sbset "$D" flip both sequence
passes 'member 2 of 3' "$C"
./sbset "$D" flip both sequence
opened "$C"
