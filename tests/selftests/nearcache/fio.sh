#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Suspend, reload and remove under fio: fio must see no error until the device is removed. A cache
# that is removed by force under fio must stop cleanly.
# kernels: 6.1
. ./cache.sh

# load_begin [fio options]: run fio in the background until load_end or until the device is gone.
load_begin() {
	fio --name=load --filename=/dev/mapper/nc --readonly --rw=randread --bsrange=4k-256k \
		--iodepth=16 --direct=1 --time_based --runtime=600 --output="$TMPDIR/fio-log" "$@" &
	fio_pid=$!
	at_exit load_kill
	pieces=$(reads)
	wait_for 30 more_reads || fail "fio does not read: $(cat "$TMPDIR/fio-log")"
}

load_kill() {
	! kill -INT "$fio_pid" 2>/dev/null || wait "$fio_pid" || true
}

reads() {
	echo $(($(field hits) + $(field misses) + $(field joins) + $(field bypass_full)))
}

more_reads() {
	(($(reads) > pieces + 100))
}

fresh 16 24
for engine in libaio io_uring; do
	load_begin --ioengine="$engine"
	for ((i = 0; i < $(times 2); i++)); do
		dmsetup suspend --noudevsync nc || fail "suspend"
		dmsetup resume --noudevsync nc || fail "resume"
		dmsetup suspend --noflush --noudevsync nc || fail "suspend --noflush"
		dmsetup resume --noudevsync nc || fail "resume"
		dmsetup load --noudevsync nc --table "$(dmsetup table nc)" || fail "load"
		dmsetup resume --noudevsync nc || fail "resume"
		pieces=$(reads)
		wait_for 30 more_reads || fail "no reads after round $i"
	done
	# The exit code of an interrupted fio is 128 in any case: look for errors in its report.
	load_kill
	grep -q 'err= 0' "$TMPDIR/fio-log" || fail "fio: $(cat "$TMPDIR/fio-log")"
done
check

# Remove the device by force with fills and hits in flight.
stop
format
start
load_begin --ioengine=libaio
dmsetup remove --force --noudevsync nc 2>/dev/null || true
! wait "$fio_pid" || fail "fio did not notice that its device is gone"
dm_gone nc
start
is loaded 2
is slots_dropped 0
above blocks_warm 0
check
