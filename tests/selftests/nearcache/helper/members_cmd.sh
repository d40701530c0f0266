#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Commands on a cache with several devices: create, open by the first device alone, attach while in
# use, refuse devices that do not belong together, and destroy all.
# kernels: 6.12
# cpus: 1
. ./several.sh
. ./command.sh

make_null O origin 8
./blockdata write "$O"
several 8 8 12
read -r C D E <<<"${members[*]}"
bad 4 'are one disk' create several --origin "$O" --cache "$C" --cache "$D" --cache "$D"
bad 4 'are one disk' create several --origin "$O" --cache "$C" --cache "$O"
good create several --origin "$O" --cache "$C" --cache "$D" --cache "$E" --dry-run
[[ $out == *'cache device 3'* ]] || fail "no third device: $out"
good -j create several --origin "$O" --cache "$C" --cache "$D" --cache "$E"
json_valid create
expect cache "$C" cache_2 "$D" cache_3 "$E" devices 3
at_exit dm_gone several
[[ $(dmsetup table several) == *" member $(number "$D") member $(number "$E")" ]] || fail "table: $(dmsetup table several)"
good -j status several
expect cache_2 "$D" cache_3 "$E"
bad 5 'is in use' create other --origin "$O" --cache "$D"
./blockdata read /dev/mapper/several || fail "wrong data"
settle several
good close several
bad 4 'carries the nearcache' create other --origin "$O" --cache "$E"

# reopened WORDS...: open; fail unless all reads hit.
reopened() {
	good open several --origin "$O" "$@"
	is loaded 2 several
	origin_mark
	./blockdata read /dev/mapper/several || fail "wrong data"
	same "origin bytes of a warm cache" "$(origin_delta)" 0
	good close several
}

reopened --cache "$C"
reopened --cache "$C" --cache "$D" --cache "$E"
bad 4 'member 2 of 3' open several --origin "$O" --cache "$D"
bad 4 'stripe_index is 2, expected 1' open several --origin "$O" --cache "$C" --cache "$E" --cache "$D"
bad 4 'has 3 devices, --cache names 2' open several --origin "$O" --cache "$C" --cache "$D"
good super "$D"
[[ $out == *'place among them'* ]] || fail "super of the second: $out"

# One device fails: nc must bypass all devices, and attach take them back.
good open several --origin "$O" --cache "$C"
echo "+0-$(($(sectors "$E") - 1))" >"$NULLB/set1_2/badblocks" || fail badblocks
given_up() {
	./blockdata read /dev/mapper/several -b 8 || fail "wrong data"
	[[ $(field state several) == 1 ]]
}
wait_for 30 given_up || fail "not given up"
run attach several
[[ $rc != 0 ]] || fail "attached though a device fails"
echo "-0-$(($(sectors "$E") - 1))" >"$NULLB/set1_2/badblocks" || fail badblocks
good attach several
is state 0 several
above blocks_warm 0 several
./blockdata read /dev/mapper/several || fail "wrong data"
good close several

# One device is not found, as it has another uuid: open must refuse.
./sbset "$D" set both 'uuid[0]' 1
bad 4 'member 2 of 3' open several --origin "$O" --cache "$C"
bad 4 'belongs to another cache' open several --origin "$O" --cache "$C" --cache "$D" --cache "$E"
run destroy --cache "$E"
[[ $rc == 0 && $err == *'member 2 of 3'* ]] || fail "destroy: $rc $err"
for device in "$C" "$E"; do
	bad 4 'carries no nearcache superblock' open several --origin "$O" --cache "$device"
done
