#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# create must refuse an unsuitable witness, name it and write nothing: a device on the same drive as
# cache device or origin, with content, in use, or with no free record. Several caches can share a
# witness, with a record each, also when they are created at the same time.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

# refused CODE TEXT DEV [WORDS...]: create must refuse the witness DEV and change no device.
refused() {
	local before after
	before=$(sha256sum <"$3")
	bad "$1" "$2" create nc --origin "$O" --cache "$C" --witness "$3" "${@:4}"
	[[ $out == *"$3"* ]] || fail "not by name: $out"
	after=$(sha256sum <"$3")
	same "content of $3" "$after" "$before"
	run super "$C"
	[[ $rc == 4 ]] || fail "the cache device was formatted: $3"
}

# slice VARIABLE NAME DEV START MB: create a dm device on a part of DEV; START in sectors.
slice() {
	make_dm "$1" "$2" "0 $(($5 * 2048)) linear $3 $4"
}

make_null O origin 16
make_null both both 24
make_null w witness 2
slice C local "$both" 0 16
slice near near "$both" 32768 4
at_exit dm_gone nc
at_exit dm_gone second

# A witness on the drive of cache device or origin, at any depth of stacked devices.
slice deep deep "$near" 0 2
for dev in "$C" "$near" "$deep" "$both"; do
	refused 4 'is on the same drive as cache device' "$dev" --force
done
refused 4 'is on the same drive as origin' "$O" --force
if type -P mkfs.ext4 >/dev/null && modprobe loop && modprobe ext4; then
	mkfs.ext4 -q "$deep" || fail "mkfs"
	mkdir "$TMPDIR/mnt"
	mount "$deep" "$TMPDIR/mnt" || fail "mount"
	at_exit umount "$TMPDIR/mnt"
	truncate -s 1M "$TMPDIR/mnt/file"
	loop=$(losetup -f --show "$TMPDIR/mnt/file") || fail "losetup"
	at_exit losetup -d "$loop"
	refused 4 'is on the same drive as cache device' "$loop" --force
fi

# A witness that is no block device, of insufficient size, or read-only.
bad 4 'not a block device' create nc --origin "$O" --cache "$C" --witness /dev/null
bad 4 'No such file' create nc --origin "$O" --cache "$C" --witness /dev/nowhere
bad 1 'it is empty' create nc --origin "$O" --cache "$C" --witness ''
make_dm tiny tiny "0 7 linear $w 0"
refused 4 'it needs at least 4096' "$tiny"
dm_remove tiny
make_dm fixed fixed "0 2048 linear $w 0" --readonly
refused 4 'is read-only' "$fixed"
dm_remove fixed

# A device with content, also a cache device, needs --force.
if type -P mkfs.ext4 >/dev/null; then
	mkfs.ext4 -q -L precious "$w" || fail "mkfs"
	refused 4 "carries ext4 labelled 'precious'" "$w"
	good create nc --origin "$O" --cache "$C" --witness "$w" --force
	good close nc
	[[ ! $(blkid -p "$w") ]] || fail "ext4 is still there"
	good destroy --cache "$C"
fi
make_null other other 16
nearcache create second --cache "$other" --origin "$O" --format-only >/dev/null || fail "create"
refused 4 "carries the nearcache 'second'" "$other"
good open second --cache "$other" --origin "$O"
refused 5 "it is the cache device of 'second'" "$other" --force
good close second

# A witness that another device uses.
slice user user "$w" 0 1
refused 5 'is in use by' "$w" --force
dm_remove user

# Four creates at once must get a record each. Then the witness cannot become a cache device.
dd if=/dev/zero of="$w" bs=1M count=2 oflag=direct 2>/dev/null
caches=()
names=(a b c d)
for name in "${names[@]}"; do
	make_null dev "$name" 8
	caches+=("$dev")
done
pids=()
for i in "${!names[@]}"; do
	nearcache create "${names[i]}" --cache "${caches[i]}" --origin "$O" --witness "$w" --block-size 64K \
		>"$TMPDIR/said.$i" 2>&1 &
	pids+=($!)
	at_exit dm_gone "${names[i]}"
done
for pid in "${pids[@]}"; do
	wait "$pid" || fail "create: $(cat "$TMPDIR"/said.*)"
done
for i in "${!names[@]}"; do
	found=0
	for n in {0..3}; do
		! ./intent "${caches[i]}" said "$w" "$n" >/dev/null || found=$((found + 1))
	done
	same "records of ${names[i]}" "$found" 1
	same "witness of ${names[i]}" "$(field witness "${names[i]}")" 1
done
bad 5 'in use' create nc --origin "$O" --cache "$w" --force
for name in "${names[@]}"; do
	good close "$name"
done
bad 4 'is the witness device of 4 other caches' create nc --origin "$O" --cache "$w"

# Fill all records. Freed records must be reused, also the record of an overwritten cache.
for n in {4..63}; do
	./intent "${caches[0]}" witness "$w" "$n" || fail "record $n"
done
refused 5 "all 64 records of witness device" "$w" --force
good destroy --cache "${caches[1]}"
good create nc --origin "$O" --cache "$C" --witness "$w"
good close nc
bad 5 'all 64 records' create second --origin "$O" --cache "${caches[1]}" --witness "$w"
good create nc --origin "$O" --cache "$C" --witness "$w" --force
good close nc
good open nc --cache "${caches[2]}" --origin "$O" --mode writethrough
bad 4 'is on the same drive as origin' set nc witness="$O"
bad 4 "carries the nearcache 'second'" set nc witness="$other"
bad 4 'No such file' set nc witness=/dev/nowhere
bad 1 'give a device, or none' set nc witness=
is witness 1
good close nc
