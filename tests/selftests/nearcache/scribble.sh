#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A reader that overwrites its buffer while its reads are in flight must damage only its own copy,
# not the cached data: with a slow origin, a slow cache device, and both.
# kernels: 6.1
. ./cache.sh

# poison ORIGIN CACHE: run scribbler.c; the next reader must get right data from the cache.
poison() {
	format "$2" "$1"
	start nc '' "$1" "$2"
	./scribbler /dev/mapper/nc 65536 "$reads" || fail "the reader failed"
	settle
	is bytes_valid $((reads * 65536))
	origin_mark
	check -n $((reads * 128)) -b 128
	same "origin bytes of the second reader" "$(origin_delta)" 0
	stop
}

# slow NAME DEV: delay reads and writes by 8 ms, time to overwrite the buffer often.
slow() {
	make_dm "$1" "${1//_/-}" "0 $(sectors "$2") delay $2 0 8"
}

reads=$(times 12)
make_null O origin 32
make_null C local 40
./blockdata write "$O"
slow slow_O "$O"
poison "$slow_O" "$C"
# Remove slow-O first: create refuses an origin that another dm device holds.
dm_gone slow-O
slow slow_C "$C"
poison "$O" "$slow_C"
slow slow_O "$O"
poison "$slow_O" "$slow_C"
