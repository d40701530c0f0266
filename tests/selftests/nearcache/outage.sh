#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin fails for a while. Hits continue; other reads wait up to origin_timeout and no longer;
# a suspend without flush does not wait for these reads.
# kernels: 6.12
# cpus: 1
. ./cache.sh

# lies error|linear: let the origin fail, or work again.
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

# Without origin_timeout a read fails at once, as on the origin itself.
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
# 64 reads in 8 threads: each read misses or joins a fill, so all must wait.
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

# A suspend without flush gives the waiting reads back; the same or a new table maps them again.
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

# After origin_timeout the reader gets the error of the origin.
format
half '2 origin_timeout 2'
before=${EPOCHREALTIME/./}
! ./blockdata read /dev/mapper/nc -s 2048 -n 8 >/dev/null 2>&1 ||
	fail "a read succeeded without the origin"
((${EPOCHREALTIME/./} - before >= 2000000)) || fail "did not wait"
is reads_waiting 0
lies linear
check
