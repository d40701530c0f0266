#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Devices of nearcachetab. If the cache device is missing, broken or of another origin, nc must pass
# through. When the cache device comes back after writes without it, no stale data may be served.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh
no_settings

# says OPTIONS [CACHE]: write a nearcachetab with one line, for nc.
says() {
	echo "nc $O ${2:-$C} $1" >"$T"
}

# warned TEXT WORDS...: the command must succeed with this warning.
warned() {
	local text=$1
	shift
	run "$@"
	[[ $rc == 0 && $err == *"$text"* ]] || fail "nearcache $*: exit $rc, no '$text' in: $err $out"
}

# passing MODE: fail unless nc passes through, writable or read-only by MODE.
passing() {
	[[ $(dmsetup table nc) == *" linear "* ]] || fail "no pass-through: $(dmsetup table nc)"
	same "the mode" "$(blockdev --getro /dev/mapper/nc)" "$([[ $1 == read-only ]] && echo 1 || echo 0)"
}

# drive there|gone: plug the cache device in or pull it.
drive() {
	if [[ $1 == gone ]]; then
		dm_gone drive
	else
		make_dm C drive "0 $(sectors "$local") linear $local 0"
	fi
}

make_null O origin 16
make_null local local 24
make_null state state 64
C=/dev/mapper/drive T=$TMPDIR/tab
drive there
at_exit dm_gone drive
at_exit dm_gone nc
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --mode writearound
check
settle
good close nc
uuid=$(nearcache super "$C" -j | sed -n 's/^ *"uuid": "\(.*\)",/\1/p')

# --- the table ---

bad 1 "'nc' has no line in '$T'" open nc --tab "$T"
echo "nc $O" >"$T"
bad 1 "'$T' line 1: write NAME ORIGIN CACHE" open nc --tab "$T"
says mode=fast
bad 1 "'$T' line 1: --mode 'fast'" open nc --tab "$T"
bad 1 'give NAME or --all' open --tab "$T"
bad 1 'not both' open nc --all
bad 1 'not both' close nc --all
bad 1 'give NAME or --all' close
bad 1 'need the table' open nc --cache "$C" --wait
bad 1 'no option of one device' open --all --verify 3
says defaults
good open nc --tab "$T" --dry-run
! dmsetup info nc >/dev/null 2>&1 || fail "--dry-run made a device"
good open nc --tab "$T" --verify 3 -j
expect content warm mode read-only
[[ $(dmsetup table nc) == *" verify 3"* ]] || fail "the command line does not win"
bad 5 "'nc' exists" open nc --tab "$T"
good close nc

# Open by uuid, and open all; an invalid line does not prevent the other devices from opening.
says noauto
good open --all --tab "$T" -j
! dmsetup info nc >/dev/null 2>&1 || fail "noauto was opened"
says '' "UUID=$uuid"
echo 'x /dev/o' >>"$T"
run open --all --tab "$T" -j
[[ $rc == 1 && $out == *'line 2: write NAME'* ]] || fail "open --all: $rc $out $err"
json_keys devices name state reason
above bytes_valid 0
says '' "UUID=$uuid"
good open --all --tab "$T" -j
exec 9</dev/mapper/nc
bad 5 '1 of 1 devices were not closed' close --all
exec 9<&-
good close --all -j
json_keys devices name state reason
! dmsetup info nc >/dev/null 2>&1 || fail "close --all left it"

# --- without its cache ---

drive gone
says defaults
warned 'passes through' open nc --tab "$T"
passing read-only
./blockdata read /dev/mapper/nc >/dev/null || fail "not the origin"
bad 4 'passes through to its origin' status nc
good list -j
expect name nc mode read-only state pass-through size $((16 << 20)) cache null
bad 5 "in use by 'dm-" create x --origin "$O" --cache "$local" --force
good close nc -j
expect name nc pass_through true closed true

# Pass-through is read-only if the gap cannot be recorded: here /var/lib is not on a disk.
mkdir -p /var/lib/nearcache
says mode=writearound,on-change=trust
warned 'does not survive a reboot' open nc --tab "$T" -j
json_keys name device mode origin size table content reason
passing read-only
good close --all

mkfs.ext4 -q "$state" && mount "$state" /var/lib/nearcache || fail "no /var/lib/nearcache"
at_exit umount /var/lib/nearcache
warned 'would pass through' open nc --tab "$T" --dry-run
[[ ! -e /var/lib/nearcache/gaps.json ]] || fail "--dry-run wrote"
warned 'passes through' open --all --tab "$T"
passing writable
# Write in the middle, where the fingerprint does not show the change.
./blockdata write /dev/mapper/nc -g 2 -s 8192 -n 64 || fail "write"
good close nc
drive there

# --- then with its cache again, whatever on-change says ---

bad 4 'without its cache: the cached data is stale' open nc --cache "$C" --origin "$O" --on-change=refuse
good open nc --tab "$T" -j
expect content dropped changed gap
is bytes_valid 0
./blockdata read /dev/mapper/nc -g 2 -s 8192 -n 64 >/dev/null || fail "stale"
./blockdata read /dev/mapper/nc -n 8192 >/dev/null || fail "wrong"
settle
good close nc
# The next open must not drop the cached data again.
good open nc --tab "$T" -j
expect content warm changed null
above bytes_valid 0
good close nc

# Copy the drive before the next gap; then open without the table must detect the gap.
dd if="$local" of="$TMPDIR/copy" bs=1M iflag=direct 2>/dev/null
drive gone
warned 'passes through' open nc --tab "$T"
good close nc
drive there
good open nc --cache "$C" --origin "$O" -j
expect content dropped
./blockdata read /dev/mapper/nc -n 8192 >/dev/null || fail "wrong"
settle
good close nc
dd if="$TMPDIR/copy" of="$local" bs=1M oflag=direct 2>/dev/null
good open nc --tab "$T" -j
expect content dropped
good close nc

# A newly created cache has no gap.
good create nc --origin "$O" --cache "$C" --force
./blockdata read /dev/mapper/nc -n 8192 >/dev/null || fail "wrong"
settle
good close nc
good open nc --tab "$T" -j
expect content warm
good close nc

# --- broken, or the cache of another origin ---

make_null other other 16
make_dm vol vol "0 $(sectors "$other") linear $other 0" --uuid vol
good create nc --origin /dev/mapper/vol --cache "$C" --force
good close nc
echo "nc $O $C" >"$T"
warned "was made for the origin 'dm-uuid:vol'" open nc --tab "$T"
passing read-only
good close nc
uuid=$(nearcache super "$C" -j | sed -n 's/^ *"uuid": "\(.*\)",/\1/p')
says '' "UUID=$uuid"
bad 4 'correct its line' open nc --tab "$T"
says '' "UUID=00000000-0000-0000-0000-000000000001"
warned 'no local device carries the cache' open nc --tab "$T"
good close nc
dd if=/dev/urandom of="$C" bs=4096 count=512 oflag=direct 2>/dev/null
says defaults
warned 'carries no nearcache superblock' open nc --tab "$T"
good close nc
# The drive is suspended: open must not wait for it.
dmsetup suspend --noudevsync drive
at_exit dmsetup resume --noudevsync drive
warned 'is suspended' open nc --tab "$T"
good close nc
dmsetup resume --noudevsync drive

# If the record of gaps is damaged, no cached data is served, and the device is read-only.
good create nc --origin "$O" --cache "$C" --force
good close nc
echo '{' >/var/lib/nearcache/gaps.json
says mode=writearound
warned "gaps.json' is damaged" open nc --tab "$T"
passing read-only
good close nc
rm /var/lib/nearcache/gaps.json

# The record of gaps is missing, so the gaps are unknown; and a killed run left a device half made.
dmsetup create nc --notable --uuid nearcache-x
warned "gaps.json' is missing" open nc --tab "$T" -j
[[ $err == *"'nc' was incomplete"* ]] || fail "half a device: $err"
expect content dropped changed gap
good close nc
good open nc --tab "$T" -j
expect content warm changed null
good close nc
# A cache that is created now has no gap and opens.
rm /var/lib/nearcache/gaps.json
good create nc --origin "$O" --cache "$C" --force
good close nc
good open nc --tab "$T" -j
expect content warm changed null
good close nc

# Without the origin, pass-through is impossible.
echo "nc /dev/nowhere $C timeout=1" >"$T"
bad 4 'is it connected' open nc --tab "$T" --wait
