#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copies of members of a cache with several devices. A cache in use follows its table, never a copy.
# For a cache not in use, open and destroy must refuse while two devices claim to be the same
# member. After destroy --force of a damaged cache, the command must name the members that still
# carry it.
# kernels: 6.12
# cpus: 1
. ./several.sh
. ./command.sh

# made: create and open a cache on all three devices.
made() {
	good create several --origin "$O" --cache "$C" --cache "$D" --cache "$E" --block-size 64K
	at_exit dm_gone several
}

blank() {
	dd if=/dev/zero of="$1" bs=1M count=1 iflag=fullblock oflag=direct conv=fsync 2>/dev/null
}

# carry 0|4 DEV...: fail unless each device has a superblock (0), or none (4).
carry() {
	local code=$1 device
	shift
	for device; do
		run super "$device"
		[[ $rc == "$code" ]] || fail "super $device: exit $rc, not $code: $out $err"
	done
}

# torn A B WORDS...: the command must refuse, name both devices A and B, and change nothing.
torn() {
	bad 4 'carry' "${@:3}"
	[[ $out == *"'$1'"* && $out == *"'$2'"* ]] || fail "'$1' and '$2' are not named: $out"
	carry 0 "$C" "$D" "$E"
}

make_null O origin 4
./blockdata write "$O"
several 4 4 4
read -r C D E <<<"${members[*]}"
make_null X copy 4

# While the cache is in use, bypassed or attached again, a copy of a member must have no effect.
made
./blockdata read /dev/mapper/several || fail "wrong data"
settle several
dmsetup suspend several && dmsetup resume several
copied "$D" "$X"
kept=$(md5sum "$X")
table=$(dmsetup table several)
echo "+0-$(($(sectors "$E") - 1))" >"$NULLB/set1_2/badblocks" || fail badblocks
given_up() {
	./blockdata read /dev/mapper/several -b 8 || fail "wrong data"
	[[ $(field state several) == 1 ]]
}
wait_for 30 given_up || fail "not given up"
echo "-0-$(($(sectors "$E") - 1))" >"$NULLB/set1_2/badblocks" || fail badblocks
good attach several
same table "$(dmsetup table several)" "$table"
is state 0 several
good -j destroy several
expect cache "$C" cache_2 "$D" cache_3 "$E"
carry 4 "$C" "$D" "$E"
same "the copy" "$(md5sum "$X")" "$kept"

# A copy is present while the cache is closed: commands must refuse.
made
good close several
copied "$D" "$X"
torn "$D" "$X" destroy --cache "$C"
torn "$D" "$X" destroy --cache "$D"
torn "$D" "$X" destroy --cache "$X"
torn "$D" "$X" open several --origin "$O" --cache "$C"
good open several --origin "$O" --cache "$C" --cache "$D" --cache "$E"
# The open cache has one of the two devices, and the conflict remains.
torn "$D" "$X" destroy --cache "$X"
good close several
blank "$X"
copied "$C" "$X"
for device in "$C" "$X" "$D"; do
	torn "$C" "$X" destroy --cache "$device"
done
torn "$C" "$X" open several --origin "$O" --cache "$C"
torn "$C" "$X" open several --origin "$O" --cache "$X"
blank "$X"
# A device stacked on a member shows the same superblock but is no copy.
make_dm upper upper "0 $(sectors "$D") linear $D 0"
good -j destroy --cache "$C" --dry-run
expect cache "$C" cache_2 "$upper" cache_3 "$E"
dm_gone upper

# The first device is damaged: destroy --force must wipe only this device and name the others.
./sbset "$C" flip both sequence
bad 4 'is not usable' destroy --cache "$C"
run destroy --cache "$C" --force
[[ $rc == 0 && $err == *"'$D' carries member 2 of 3"* && $err == *"destroy --cache $E'"* ]] ||
	fail "destroy --force: $rc $out $err"
carry 4 "$C"
carry 0 "$D" "$E"
run destroy --cache "$D"
[[ $rc == 0 && $err == *'member 1 of 3'* ]] || fail "destroy: $rc $out $err"
carry 4 "$D" "$E"

# Devices are damaged while in use: destroy finds the others in the table.
made
./sbset "$C" flip both sequence
./sbset "$E" flip both sequence
bad 4 'is not usable' destroy several
good -j destroy several --force
expect cache "$C" cache_2 "$D" cache_3 "$E"
carry 4 "$C" "$D" "$E"
