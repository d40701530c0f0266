#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache in a writing mode between other layers: partitions, dm-crypt, md raid1, a loop device on a
# file. Data written at the top must be read back there, also after the page cache is dropped, and
# from the origin without the cache.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./raid.sh

KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
generation=1

# good DEV [OPTIONS]: fail unless DEV holds the data written last.
good() {
	./blockdata read "$1" -g $generation "${@:2}" >/dev/null || fail "$1 is wrong (line ${BASH_LINENO[*]})"
}

# exercise DEV: write DEV and read it in several ways.
exercise() {
	generation=$((generation + 1))
	./blockdata write "$1" -g $generation || fail "cannot write $1"
	good "$1" -b 1:64 -a 1 -r 20
	good "$1"
	good "$1" -B -b 64
	drop_caches
	good "$1"
	good "$1" -B -b 8
}

# crypt NAME DEV: create a dm-crypt device.
crypt() {
	make_dm "$1" "crypt-${1,,}" "0 $(sectors "$2") crypt aes-xts-plain64 $KEY 0 $2 0"
}

# begin [ORIGIN [CACHE]]: start a new cache on these devices.
begin() {
	format "${2:-$C}" "${1:-$O}"
	# cache_timeout 0: any layer is slow on a busy machine, and the cache would be bypassed.
	start nc '2 cache_timeout 0' "${1:-$O}" "${2:-$C}"
}

# used: fail unless the cache had hits and no errors.
used() {
	settle
	above hits 0
	above writes 0
	is hit_errors 0
	is write_errors 0
	is state 0
}

partitions() {
	local loop
	begin
	# Two partitions of type 83, from sectors 8 and 4096 on.
	{
		dd if=/dev/zero bs=446 count=1
		printf '\0\0\0\0\x83\0\0\0\x08\0\0\0\xf0\x0f\0\0'
		printf '\0\0\0\0\x83\0\0\0\0\x10\0\0\0\x08\0\0'
		dd if=/dev/zero bs=32 count=1
		printf '\x55\xaa'
	} 2>/dev/null | dd of=/dev/mapper/nc bs=512 oflag=direct iflag=fullblock 2>/dev/null
	loop=$(losetup -P -f --show --direct-io=on /dev/mapper/nc) || fail "losetup"
	[[ -b ${loop}p1 && -b ${loop}p2 ]] || { losetup -d "$loop"; fail "no partitions of $loop"; }
	exercise "${loop}p1"
	first=$generation
	exercise "${loop}p2"
	losetup -d "$loop" || fail "losetup -d"
	used
	stop
	# The partitions must have the same data on the bare origin.
	make_dm part part "0 2048 linear $O 4096"
	good "$part"
	dm_remove part
	make_dm part part "0 4080 linear $O 8"
	generation=$first
	good "$part"
	dm_remove part
}

crypt_above() {
	begin
	crypt top /dev/mapper/nc
	exercise "$top"
	dm_remove crypt-top
	used
	stop
	crypt top "$O"
	good "$top"
	dm_remove crypt-top
}

# dm-crypt below the origin, and below the cache device.
crypt_below() {
	crypt low "$O"
	crypt slots "$C"
	begin "$low" "$slots"
	exercise /dev/mapper/nc
	used
	stop
	good "$low"
	start nc '' "$low" "$slots"
	is loaded 2
	good /dev/mapper/nc
	stop
	dm_remove crypt-slots
	dm_remove crypt-low
}

raid_below() {
	raid_up "$O" "$second" 4096 || { echo "no raid1 here"; return; }
	at_exit raid_down
	begin /dev/md127
	exercise /dev/mapper/nc
	used
	# Continue with one leg.
	raid_fail "$second"
	exercise /dev/mapper/nc
	is write_errors 0
	stop
	good /dev/md127
	raid_down
	good "$O" -n 8192
}

# loop_on on|off: a loop device on a file, with direct I/O or without.
loop_on() {
	local file=$TMPDIR/mnt/file loop
	begin
	mkfs.ext4 -q -F -O ^has_journal /dev/mapper/nc || fail "mkfs"
	mount /dev/mapper/nc "$TMPDIR/mnt" || fail "mount"
	truncate -s 2M "$file"
	loop=$(losetup -f --show --direct-io="$1" "$file") || { umount "$TMPDIR/mnt"; fail "losetup"; }
	(exercise "$loop") || { losetup -d "$loop"; umount "$TMPDIR/mnt"; fail "loop, direct I/O $1"; }
	generation=$((generation + 1))
	losetup -d "$loop"
	umount "$TMPDIR/mnt" || fail "umount"
	used
	stop
	mount -o ro,noload "$O" "$TMPDIR/mnt" || fail "mount of the origin"
	loop=$(losetup -r -f --show "$file")
	./blockdata read "$loop" -g $generation >/dev/null || failed=1
	losetup -d "$loop"
	umount "$TMPDIR/mnt"
	[[ ! ${failed:-} ]] || fail "the file on the origin is wrong"
}

top='' low='' slots='' part='' second=''
mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
modprobe loop || skip "no loop devices"
modprobe dm-crypt || skip "no dm-crypt"
make_null O origin 4
make_null second origin2 4
make_null C local 8
# Alternate the modes between the layers, and between the rounds.
modes=(writethrough writearound)
for ((round = 0; round < $(times 1); round++)); do
	for layer in crypt_above crypt_below partitions raid_below 'loop_on off' 'loop_on on'; do
		MODE=${modes[0]}
		modes=("${modes[1]}" "${modes[0]}")
		$layer
	done
	modes=("${modes[1]}" "${modes[0]}")
done
