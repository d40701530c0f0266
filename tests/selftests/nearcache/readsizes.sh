#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reads of 512 bytes to 1 MiB, aligned or not, direct, buffered, mapped, by libaio and io_uring
# must return the right data, cold and cached.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# cold: start an empty cache.
cold() {
	stop
	format
	start
}

# both OPTIONS...: read cold, and again when all is cached.
both() {
	cold
	check "$@"
	check -b 128
	settle
	origin_mark
	check "$@"
	is bytes_valid $((4 << 20))
	same "origin bytes of cached data, $*" "$(origin_delta)" 0
}

# engine NAME OPTIONS...: read with fio; with io_uring the kernel tries NOWAIT first.
engine() {
	cold
	fio --name=x --filename=/dev/mapper/nc --readonly --rw=randread --ioengine="$1" --randseed=7 \
		--iodepth=16 --size=4M --norandommap --number_ios=300 "${@:2}" >"$TMPDIR/fio" ||
		fail "fio $*: $(<"$TMPDIR/fio")"
	settle
	valid=$(field bytes_valid)
	check -b 128
}

fresh 4 12
both -b 1 -r 600 -t 2
both -b 8
both -b 2048
both -b 1:700 -a 1 -r 60 -t 2
drop_caches
both -b 2048 -B
drop_caches
both -b 32 -m -r 100
# io_uring must cause the same cached sub-blocks and the same bytes from the origin as libaio.
for direct in 0 1; do
	drop_caches
	engine libaio --direct=1 --bs=4k
	libaio=$valid libaio_origin=$(field fill_origin_bytes)
	drop_caches
	engine io_uring --direct=$direct --bs=4k
	((direct == 0)) || same "bytes valid after io_uring" "$valid" "$libaio"
	((direct == 0)) || same "origin bytes after io_uring" "$(field fill_origin_bytes)" "$libaio_origin"
	is bypass_memory 0
done
