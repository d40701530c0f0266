#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Only one dm device may use a cache device, and a copy of the cache device counts as the same
# device. Two caches may share an origin.
# kernels: 6.12
. ./cache.sh

# refused NAME CACHE: the new dm device NAME must be refused CACHE, in a live and a loaded table.
refused() {
	log_mark
	! dm_create "$1" "$(line '' "$O" "$2")" >/dev/null 2>&1 || fail "$2 accepted a second time"
	log_since | grep -q 'in use by dm device' || fail "the log does not say who has it"
	! dmsetup info "$1" >/dev/null 2>&1 || dmsetup remove --noudevsync "$1"
	dmsetup create --noudevsync --notable "$1" || fail "create"
	! dmsetup load --noudevsync "$1" --table "$(line '' "$O" "$2")" 2>/dev/null || fail "$2 loaded a second time"
	dmsetup remove --noudevsync "$1"
}

make_null O origin 8
make_null C local 16
make_null copy copy 16
./blockdata write "$O"
format
dd if="$C" of="$copy" bs=1M iflag=direct oflag=direct 2>/dev/null
start
refused second "$C"
refused second "$copy"
# The same device under another name is refused as well.
make_dm alias alias "0 $(sectors "$C") linear $C 0"
refused second "$alias"
dm_remove alias
check
stop

# A table that is only loaded already claims its cache device.
dmsetup create --noudevsync --notable nc
at_exit dm_gone nc
dmsetup load --noudevsync nc --table "$(line)" || fail "load"
refused second "$C"
refused second "$copy"
dmsetup clear --noudevsync nc
# A table that was loaded and cleared claims no cache device.
start second
refused nc2 "$copy"
stop second
dmsetup remove --noudevsync nc
start second '' "$O" "$copy"
stop second

# Between load and resume, the cache device is formatted again, with other sizes: resume must fail.
make_null image image 16
format "$image" "$O" 256K
dmsetup create --noudevsync --notable nc
dmsetup load --noudevsync nc --table "$(line)" || fail "load"
dd if="$image" of="$C" bs=1M oflag=direct 2>/dev/null
for i in 1 2; do
	! dmsetup resume --noudevsync nc 2>/dev/null || fail "resumed on another cache, attempt $i"
done
# A new table reads the superblock again.
reload || fail "a new table was refused"
is block_size 262144
check
stop
dd if="$image" of="$C" bs=1M oflag=direct 2>/dev/null
start
is loaded 1
check
stop

# Two caches share one origin.
format "$copy"
start
start other '' "$O" "$copy"
check
./blockdata read /dev/mapper/other || fail "the other cache"
settle
settle other
is bytes_valid $((8 << 20))
is bytes_valid $((8 << 20)) other
stop other
origin_mark
check
same "origin bytes" "$(origin_delta)" 0
