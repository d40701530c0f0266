#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Readers with NOWAIT, and readers and writers that poll, also on devices that support neither:
# EAGAIN is allowed, wrong data and errors are not.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# all_ways CACHE ORIGIN OPTIONS...: read cold and cached with each word of blockdata options.
all_ways() {
	local options
	for options in "${@:3}"; do
		format "$1" "$2"
		start nc '' "$2" "$1"
		# shellcheck disable=SC2086 # options, one word each
		check $options
		check -b 128 -t 4
		settle
		is bytes_valid $((4 << 20))
		# shellcheck disable=SC2086
		check $options
		is hit_errors 0
		is state 0
		stop
	done
}

# polled OPTIONS: read with fio, which verifies the checksums that it wrote to the origin.
polled() {
	fio --name=x --filename=/dev/mapper/nc --readonly --rw=randread --bs=4k --size=2M --direct=1 \
		--ioengine=io_uring --iodepth=8 --verify=crc32c --verify_fatal=1 "$@" >"$TMPDIR/fio" 2>&1 ||
		fail "fio $*: $(<"$TMPDIR/fio")"
}

make_null O origin 4 submit_queues=1 poll_queues=1 completion_nsec=100000
make_null C local 16 submit_queues=2 poll_queues=1
./blockdata write "$O"
all_ways "$C" "$O" '-w -b 8 -n 512' '-w -b 1:300 -a 1 -r 30 -t 3' '-w -B -b 64' '-p -b 8:128 -a 8 -r 30 -t 2'
# With dm-delay below, NOWAIT is refused.
make_dm slow slow "0 $(sectors "$O") delay $O 0 0"
all_ways "$C" "$slow" '-w -b 1:300 -a 1 -r 30 -t 3'
dm_remove slow
make_dm slow slow "0 $(sectors "$C") delay $C 0 0"
all_ways "$slow" "$O" '-w -b 1:300 -a 1 -r 30 -t 3'
dm_remove slow

fio --name=x --filename="$O" --rw=write --bs=4k --size=2M --direct=1 --verify=crc32c --do_verify=0 >/dev/null ||
	fail "fio cannot write"
for options in --hipri '--hipri=0 --fixedbufs'; do
	format
	start
	# shellcheck disable=SC2086
	polled $options
	settle
	is bytes_valid $((2 << 20))
	# shellcheck disable=SC2086
	polled $options
	is state 0
	stop
done

# Polling writers overwrite cached data.
MODE=writethrough
start
polled --hipri
fio --name=x --filename=/dev/mapper/nc --rw=randwrite --bs=1k-48k --size=2M --direct=1 --ioengine=io_uring \
	--iodepth=8 --hipri --io_size=8M --randseed=7 --verify=crc32c --verify_fatal=1 >"$TMPDIR/fio" 2>&1 ||
	fail "fio: $(<"$TMPDIR/fio")"
settle
above updates 0
is write_errors 0
stop
MODE=read-only
fio --name=x --filename="$O" --rw=write --bs=4k --size=2M --direct=1 --verify=crc32c --do_verify=0 >/dev/null ||
	fail "fio cannot write"
format
start
polled --hipri
settle
stop

# Polled hits fail and are repeated on the origin, which has fewer queues than the cache device.
start
data=$(($(./sbset "$C" get data_offset) / 512))
echo "+$data-$((data + 511))" >"$NULLB/local/badblocks"
polled --hipri
polled --hipri --iodepth=1
above hit_errors 0
