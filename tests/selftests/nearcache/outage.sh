#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin fails for a while. Hits continue, other reads wait as long as the table says and no
# longer, and a suspend without flush does not wait for them.
# kernels: 6.12
# cpus: 1
. ./cache.sh

# lies error|linear: replace the table below the origin.
lies() {
	dmsetup load --noudevsync slice --table "$(under "$1")" &&
		dmsetup resume --noudevsync slice || fail "the origin becomes $1"
}

under() {
	case $1 in
	error) echo "0 $(sectors "$base") error" ;;
	linear) echo "0 $(sectors "$base") linear $base 0" ;;
	esac
}

waiting() {
	(($(field reads_waiting) $1))
}

# reader [blockdata options]: read uncached data in the background.
reader() {
	./blockdata read /dev/mapper/nc -s 2048 -n 2048 "$@" >"$TMPDIR/reader" 2>&1 &
	reader=$!
}

# half OPTIONS: cache the first half of the origin, then let the origin fail.
half() {
	start nc "$1"
	check -n 2048
	settle
	lies error
	hits=$(field hits)
	check -n 2048 -b 8
	above hits "$hits"
}

back() {
	lies linear
	wait "$reader" || fail "the reads that waited: $(<"$TMPDIR/reader")"
	is reads_waiting 0
	check
}

make_null base base 2
make_null C local 8
./blockdata write "$base"
make_dm O slice "$(under linear)"
format

# By default reads fail like the origin itself.
half ''
! ./blockdata read /dev/mapper/nc -s 2048 -n 8 >/dev/null 2>&1 ||
	fail "a read succeeded without the origin"
is reads_waiting 0
lies linear
check
stop

format
half '2 origin_timeout 600'
log_mark
# 64 reads; each of them misses or joins a miss.
reader -b 32 -t 8
wait_for 30 waiting '>= 8' || fail "no read waits"
log_since | grep -q 'fails: reads wait up to 600 s' || fail "the log does not tell"
check -n 2048 -b 8
log_mark
back
log_since | grep -q 'answers again' || fail "the log does not tell"
settle
is fills_in_flight 0
stop

# Device-mapper takes the waiting reads back and maps them again, by the same and by another table.
format
half '2 origin_timeout 600'
reader -b 8 -t 4
wait_for 30 waiting '>= 4' || fail "no read waits"
dmsetup suspend --noflush --noudevsync nc || fail "suspend"
is reads_waiting 0
dmsetup resume --noudevsync nc
wait_for 30 waiting '>= 4' || fail "no read waits after the resume"
dmsetup load --noudevsync nc --table "$(line '2 origin_timeout 500')"
dmsetup suspend --noflush --noudevsync nc || fail "suspend"
lies linear
dmsetup resume --noudevsync nc
wait "$reader" || fail "the reads that waited: $(<"$TMPDIR/reader")"
check
stop

# The time is up: the reader gets the origin's error.
format
half '2 origin_timeout 2'
before=${EPOCHREALTIME/./}
! ./blockdata read /dev/mapper/nc -s 2048 -n 8 >/dev/null 2>&1 ||
	fail "a read succeeded without the origin"
((${EPOCHREALTIME/./} - before >= 2000000)) || fail "did not wait"
is reads_waiting 0
lies linear
check
