#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A writer overwrites its buffer while its writes are in flight. The written data is undefined, but
# cache and origin must get the same data.
# kernels: 6.12
. ./cache.sh

# slow NAME DEV: delay writes long enough for the buffer to change meanwhile.
slow() {
	make_dm "$1" "${1//_/-}" "0 $(sectors "$2") delay $2 0 0 $2 0 8"
}

# content DEV: print a checksum of the data.
content() {
	dd if="$1" bs=64K count=$writes iflag=direct 2>/dev/null | md5sum
}

# scribble BYTES [FILE]: write over cached data; fail if cache and origin then differ.
scribble() {
	local updates hits bytes=$1
	check -n $((writes * 128)) -b 128 >/dev/null
	settle
	updates=$(field updates)
	./scribble_write /dev/mapper/nc "$bytes" $((writes * 65536 / bytes)) "${@:2}" ||
		fail "the writer failed"
	settle
	is updates $((updates + writes * 65536 / bytes))
	is bytes_valid $((writes * 65536))
	hits=$(field hit_bytes)
	same "content of the cache" "$(content /dev/mapper/nc)" "$(content "$base")"
	is hit_bytes $((hits + writes * 65536))
	./blockdata write "$base" -n $((writes * 128))
	dmsetup message nc 0 invalidate all
}

writes=$(times 6) base='' local='' slow_O='' slow_C=''
make_null base origin 8
make_null local local 16
slow slow_O "$base"
slow slow_C "$local"
./blockdata write "$base"
format "$slow_C" "$slow_O"
MODE=writethrough start nc '' "$slow_O" "$slow_C"
scribble 65536
scribble 8192
scribble 32768 "$TMPDIR/file"

# The same with the device mapped into memory, changed and written back repeatedly.
check -n $((writes * 128)) -b 128 >/dev/null
settle
updates=$(field updates)
./scribble_write /dev/mapper/nc 262144 $writes /dev/mapper/nc || fail "the mapping"
blockdev --flushbufs /dev/mapper/nc
settle
above updates "$updates"
hits=$(field hit_bytes)
same "what was mapped" "$(content /dev/mapper/nc)" "$(content "$base")"
above hit_bytes "$hits"
