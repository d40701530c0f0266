#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin is disconnected and its disk disappears; after a reconnect the volume is another
# device. A reload with that device as origin must keep the cached data if no host wrote the volume
# meanwhile, and must drop the data otherwise.
# kernels: 6.12
# cpus: 1
. ./cache.sh

# gone: disconnect the origin; hits must continue.
gone() {
	dmsetup message nc 0 invalidate 8192 1024 || fail "invalidate"
	remote_disconnect
	hits=$(field hits)
	check -n 4096 -b 8 -g "$generation"
	above hits "$hits"
	./blockdata read /dev/mapper/nc -s 8192 -n 1024 -b 8 -g "$generation" >"$TMPDIR/reader" 2>&1 &
	reader=$!
	wait_for 30 waiting || fail "no read waits"
}

waiting() {
	(($(field reads_waiting) > 0))
}

# back: reconnect the volume as another device, and reload with this device as origin.
back() {
	O=$(remote_connect)
	dmsetup load --noudevsync nc --table "$(line)" || fail "the table of the new device"
	dmsetup suspend --noflush --noudevsync nc && dmsetup resume --noudevsync nc || fail "resume"
	wait "$reader" || fail "the reads that waited: $(<"$TMPDIR/reader")"
	is reads_waiting 0
}

behind() {
	./blockdata write "$remote" -g "$1"
}

# round MODE: test all cases in this mode.
round() {
	MODE=$1 generation=1
	behind 1
	format
	start
	check -n 4096
	settle
	gone
	warm=$(field bytes_valid)
	back
	if [[ $MODE == read-only ]]; then
		(($(field bytes_valid) >= warm)) || fail "the cached data was dropped"
	fi
	check
	settle
	if [[ $MODE != read-only ]]; then
		# The volume may lose writes that it acknowledged but did not make durable.
		generation=2
		./blockdata write /dev/mapper/nc -g 2
		check -g 2
		settle
		remote_disconnect
		behind 3
		generation=3
		true &
		reader=$!
		back
		check -g 3
		settle
	else
		# Another host writes to the origin meanwhile.
		gone
		behind 4
		generation=4
		kill "$reader"
		./blockdata read /dev/mapper/nc -s 8192 -n 8 -g 4 >"$TMPDIR/reader" 2>&1 &
		reader=$!
		back
		check -g 4
		settle
	fi
	stop
	start
	is loaded 2
	check -g "$generation"
	stop
}

# shellcheck disable=SC2034 # for line
OPTIONS='2 origin_timeout 600'
make_null remote behind 8
make_null C local 24
O=$(remote_up 0 "$remote") || fail "no remote volume"
at_exit remote_down
round read-only
round writethrough
