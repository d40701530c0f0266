#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache between layers that check or change data. dm-integrity below the cache fails reads of
# damaged data; dm-crypt below the cache returns garbage, which the cache's own checksums detect. In
# both cases readers must get right data.
# kernels: 6.12
# cpus: 1
. ./cache.sh

KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f

# integrity NAME DEV: create a dm-integrity device, and write all of it once.
integrity() {
	local options="internal_hash:crc32c" provided
	dd if=/dev/zero of="$2" bs=4096 count=1 conv=fsync 2>/dev/null
	dm_create probe "0 1 integrity $2 0 - D 1 $options" >/dev/null || skip "no dm-integrity"
	dm_remove probe
	provided=$(dd if="$2" bs=8 skip=2 count=1 2>/dev/null | od -An -tu8)
	make_dm "$1" "integrity-${1,,}" "0 $((provided)) integrity $2 0 - D 1 $options"
	dd if=/dev/zero of="${!1}" bs=1M oflag=direct 2>/dev/null
}

# spoil DEV MIB COUNT: overwrite COUNT MiB of the lowest device from MIB on.
spoil() {
	dd if=/dev/urandom of="$1" bs=1M seek="$2" count="$3" conv=notrunc,fsync 2>/dev/null ||
		fail "cannot spoil $1"
}

# begin CACHE: start a warm cache.
begin() {
	format "$1" "$O"
	start nc '' "$O" "$1"
	check -n 8192 >/dev/null
	settle
	hits=$(field hits)
	check -n 8192 -b 8 >/dev/null
	is hits $((hits + 1024))
	is hit_errors 0
	is damaged 0
}

make_null O origin 8
make_null C local 16
./blockdata write "$O"

# dm-integrity below, with and without the cache's checksums: read errors end in bypass.
for INTEGRITY in none crc32c; do
	integrity below "$C"
	begin "$below"
	spoil "$C" 3 1
	check -n 8192 -b 8 >/dev/null
	above hit_errors 0
	is damaged 0
	check -n 8192 -b 1:64 -a 1 -r 100 >/dev/null
	stop
	dm_remove integrity-below
done

# dm-crypt below reports no error: the cache's checksums must find the damage each time.
make_dm slots crypt-slots "0 $(sectors "$C") crypt aes-xts-plain64 $KEY 0 $C 0"
begin "$slots"
for ((round = 0; round < 2; round++)); do
	damaged=$(field damaged)
	spoil "$C" 3 1
	check -n 8192 -b 8 >/dev/null
	settle
	above damaged "$damaged"
	is hit_errors 0
	is state 0
	hits=$(field hits)
	check -n 8192 -b 8 >/dev/null
	is hits $((hits + 1024))
done
stop
start nc '' "$O" "$slots"
is loaded 2
check -n 8192 -b 8 >/dev/null
is hits 1024
is damaged 0

# The cache device on dm-crypt, and dm-integrity on top of the cache.
MODE=writethrough reload '' "$O" "$slots"
integrity above /dev/mapper/nc
./blockdata write "$above" -g 3
./blockdata read "$above" -g 3 >/dev/null || fail "dm-integrity above"
drop_caches
./blockdata read "$above" -g 3 -b 1:64 -a 1 -r 100 >/dev/null || fail "dm-integrity above"
is damaged 0
dm_remove integrity-above
stop
make_dm bare integrity-bare "0 $(($(dd if="$O" bs=8 skip=2 count=1 2>/dev/null | od -An -tu8))) integrity $O 0 - D 1 internal_hash:crc32c"
./blockdata read "$bare" -g 3 >/dev/null || fail "dm-integrity on the origin alone"
