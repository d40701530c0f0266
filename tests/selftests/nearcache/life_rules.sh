#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The rules on which tables may share or write a device: a table that breaks a rule must be refused,
# with the reason in the kernel log.
# kernels: 6.1
# cpus: 1
. ./cache.sh

ro=''
# refused TEXT NAME TABLE [dmsetup options]: NAME, new or live, refuses TABLE; the log has TEXT.
refused() {
	local said
	log_mark
	if dmsetup info "$2" >/dev/null 2>&1; then
		! dmsetup load --noudevsync "$2" --table "$3" "${@:4}" 2>/dev/null || fail "loaded: $3"
	else
		! dmsetup create --noudevsync "$2" --table "$3" "${@:4}" 2>/dev/null ||
			fail "created: $3"
	fi
	said=$(log_since)
	[[ $said == *"$1"* ]] || fail "no '$1' in the log of '$3': $said"
}

# table MODE [ORIGIN [CACHE]]: print the table line.
table() {
	echo "0 $S nearcache $1 ${2:-$O} ${3:-$C}"
}

# live NAME MODE CACHE: create a device with a live table.
live() {
	make_dm _ "$1" "$(table "$2" "$O" "$3")"
}

make_null O origin 8
make_null C local 8
make_null D local2 8
format "$C"
format "$D"
writing='writearound writethrough'
S=$(sectors "$O")

# Words that are no mode are refused.
for word in '' writeback WRITETHROUGH readonly 2; do
	refused "'${word:-$O}'" nc "0 $S nearcache $word $O $C"
done
for mode in $writing; do
	refused "'$mode'" nc "$(table "$mode")" --readonly
	# An origin that is read-only, or becomes read-only.
	blockdev --setro "$O"
	refused "'$O'" nc "$(table "$mode")"
	live nc read-only "$C"
	refused "'$O'" nc "$(table "$mode")"
	blockdev --setrw "$O"
	refused "'$mode'" nc "$(table "$mode")" --readonly
	MODE=$mode reload || fail "reload to $mode"
	stop
done
make_dm ro ro "0 $(sectors "$O") linear $O 0" --readonly
for mode in $writing; do
	refused "'$ro'" nc "$(table "$mode" "$ro")"
done
dm_remove ro

# Two caches may share an origin only if both are read-only: a table in a writing mode is refused
# beside any other, and any other beside it, live or only loaded.
other='both must be read-only'
live one read-only "$C"
live two read-only "$D"
for mode in $writing; do
	refused "$other" one "$(table "$mode" "$O" "$C")"
	refused "$other" two "$(table "$mode" "$O" "$D")"
done
stop two
for mode in $writing; do
	refused "$other" two "$(table "$mode" "$O" "$D")"
	# A table that is only loaded counts like a live one.
	dmsetup load --noudevsync one --table "$(table "$mode" "$O" "$C")" || fail "load $mode"
	refused "$other" two "$(table read-only "$O" "$D")"
	dmsetup clear --noudevsync one
	live two read-only "$D"
	stop two
	MODE=$mode reload '' "$O" "$C" one || fail "reload to $mode"
	for second in read-only $writing; do
		refused "$other" two "$(table "$second" "$O" "$D")"
	done
	# Read-only again, but with a writing table loaded or still live.
	dmsetup load --noudevsync one --table "$(table read-only "$O" "$C")" || fail "load"
	refused "$other" two "$(table read-only "$O" "$D")"
	dmsetup resume --noudevsync one
	live two read-only "$D"
	stop two
done
stop one

# Two partitions are two devices, but two caches on one partition share a device.
disk=$TMPDIR/disk
truncate -s 16M "$disk"
{
	printf '\0\0\0\0\x83\0\0\0\x08\0\0\0\xf8\x2f\0\0'
	printf '\0\0\0\0\x83\0\0\0\0\x30\0\0\0\x50\0\0'
	dd if=/dev/zero bs=32 count=1
	printf '\x55\xaa'
} 2>/dev/null | dd of="$disk" bs=1 seek=446 conv=notrunc 2>/dev/null
modprobe loop
disk=$(losetup -P -f --show "$disk") || fail "losetup"
at_exit losetup -d "$disk"
S=$(sectors "${disk}p1")
format "$C" "${disk}p1"
format "$D" "${disk}p1"
refused 'are the same device' one "$(table read-only "${disk}p1" "${disk}p1")"
make_dm _ one "$(table writearound "${disk}p1" "$C")"
refused "$other" two "$(table read-only "${disk}p1" "$D")"
format "$D" "${disk}p2"
make_dm _ two "0 $(sectors "${disk}p2") nearcache writearound ${disk}p2 $D"
stop two
stop one

modprobe null_blk nr_devices=0
if null_dev zoned 64 zoned=1 zone_size=4 >"$TMPDIR/zoned" 2>&1; then
	at_exit null_del zoned
	Z=$(<"$TMPDIR/zoned")
	for mode in read-only $writing; do
		refused "'$Z'" nc "$(table "$mode" "$Z")"
		refused "'$Z'" nc "$(table "$mode" "$O" "$Z")"
	done
else
	echo "no zoned null_blk here: $(<"$TMPDIR/zoned")"
fi
