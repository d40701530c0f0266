#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The volume of a stage has another device id: open refuses it, --force accepts it, and the log names
# it from then on.  If the kernel refuses the volume, the log keeps the former id.
# kernels: 6.12
# cpus: 1
. ./staged.sh

# renamed ID: give the origin another device id.
renamed() {
	dm_gone slice
	dm_create slice "0 $(sectors "$base") linear $base 0" --uuid "$1" >/dev/null || fail "dm_create"
}

# names ID: the log must name this origin.
names() {
	good super "$L" -j
	expect origin_id "dm-uuid:$1"
}

make_staged force-one
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
./blockdata write /dev/mapper/nc -n 16384
good close nc --keep
renamed force-two
bad 4 "was made for 'dm-uuid:force-one'" open nc --cache "$C" --origin "$O"
good open nc --cache "$C" --origin "$O" --force --dry-run
names force-one
good open nc --cache "$C" --origin "$O" --force
check -n 16384
good close nc --keep
names force-two
good open nc --cache "$C" --rate 512K
check -n 16384
./blockdata write /dev/mapper/nc -n 16384 -g 2
good close nc --keep

renamed force-three
./blockdata write "$base" -n 8 -g 9
bad 4 "another host changed it" open nc --cache "$C" --origin "$O" --force
names force-two
