#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Suspend and resume under writers: they must see no error, and a warm start must return the data
# of the origin. Then the device is removed by force under writers: their last writes may not be
# durable on the origin, so the next start must be cold.
# kernels: 6.12
# timeout: 240
# when: soak
. ./cache.sh

load_begin() {
	fio --name=load --filename=/dev/mapper/nc --rw=randrw --bsrange=512-128k \
		--iodepth=16 --ioengine="$1" --direct=1 --thread --nice=15 --time_based --runtime=600 \
		--output="$TMPDIR/fio-log" &
	fio_pid=$!
	at_exit load_kill
	go_on start
}

load_kill() {
	! kill -INT "$fio_pid" 2>/dev/null || wait "$fio_pid" || true
}

more() {
	(($(field writes) > before + 50))
}

go_on() {
	before=$(field writes)
	wait_for 60 more || fail "no writes after $*: $(cat "$TMPDIR/fio-log")"
}

# agree: fail unless the cache returns the content of the origin everywhere.
agree() {
	drop_caches
	cmp /dev/mapper/nc "$O" || fail "cache and origin differ (line ${BASH_LINENO[0]})"
	above hits 0
}

make_null O origin 16 completion_nsec=300000 cache_size=1
make_null C local 12 completion_nsec=100000
for mode in writearound writethrough; do
	export MODE=$mode
	format
	start
	cat /dev/mapper/nc >/dev/null
	load_begin libaio
	for ((i = 0; i < $(times 2); i++)); do
		dmsetup suspend nc || fail "suspend"
		is fills_in_flight 0
		dmsetup resume nc || fail "resume"
		go_on suspend
		dmsetup suspend --noflush nc || fail "suspend --noflush"
		dmsetup resume nc || fail "resume"
		go_on suspend --noflush
	done
	load_kill
	grep -q 'err= 0' "$TMPDIR/fio-log" || fail "fio: $(cat "$TMPDIR/fio-log")"
	agree
	stop
	start
	is loaded 2
	is slots_dropped 0
	above blocks_warm 0
	agree

	# Remove the device by force with writes, updates and fills in flight.
	load_begin io_uring
	dmsetup remove --force --noudevsync nc 2>/dev/null || true
	! wait "$fio_pid" || fail "fio did not notice that its device is gone"
	dm_gone nc
	start
	is loaded 3
	is blocks_used 0
	cat /dev/mapper/nc >/dev/null
	settle
	agree
	stop
done
