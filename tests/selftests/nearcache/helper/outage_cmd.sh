#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The commands set how long reads wait for a failing origin (origin_timeout): at create, at open,
# and while reads are waiting.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

# origin error|linear: let the origin fail, or work again.
origin() {
	local table
	table="0 $(sectors "$base") linear $base 0"
	[[ $1 == linear ]] || table="0 $(sectors "$base") error"
	dmsetup load --noudevsync slice --table "$table" &&
		dmsetup resume --noudevsync slice || fail "the origin becomes $1"
}

waiting() {
	(($(field reads_waiting) > 0))
}

# reader: read uncached data in the background; the read waits.
reader() {
	./blockdata read /dev/mapper/nc -s 2048 -n 8 >"$TMPDIR/reader" 2>&1 &
	reader=$!
	wait_for 30 waiting || fail "nothing waits"
}

make_null base base 2
make_null C local 8
./blockdata write "$base"
make_dm O slice "0 $(sectors "$base") linear $base 0"
at_exit dm_gone nc

bad 1 "--origin-timeout '86401': give 0 (the origin's own errors) to 86400 seconds" \
	create nc --origin "$O" --cache "$C" --origin-timeout 86401
bad 1 "--origin-timeout '1m'" open nc --cache "$C" --origin-timeout 1m
good create nc --origin "$O" --cache "$C" --block-size 64K -j
[[ $(json table) != *origin_timeout* ]] || fail "table: $out"
good close nc
good open nc --cache "$C" --origin "$O" --origin-timeout 600 --cache-timeout 900 -j
[[ $(json table) == *' 4 cache_timeout 900 origin_timeout 600' ]] || fail "table: $out"
good status nc -j
expect origin_timeout_s 600 reads_waiting 0
bad 1 "origin_timeout '-1': give 0" set nc origin_timeout=-1
bad 1 "origin_timeout '': give 0" set nc origin_timeout=
good set nc fill_memory=8M -j
expect origin_timeout_s 600 origin_timeout_s_before 600
[[ $(dmsetup table nc) == *' origin_timeout 600' ]] || fail "table: $(dmsetup table nc)"
check -n 2048
settle

# Hits must continue, other reads wait, and status show the waiting reads.
origin error
check -n 2048
reader
good status nc
[[ $out == *'origin timeout'*'600 s'*'reads waiting'*'origin failed'* ]] || fail "status: $out"
good status nc -j
(($(json reads_waiting) > 0 && $(json fills_failed_origin) > 0)) || fail "status: $out"
# A change of the timeout must not end the waiting reads.
good set nc origin_timeout=500 -j
expect changed true origin_timeout_s 500 origin_timeout_s_before 600
wait_for 30 waiting || fail "nothing waits any more"
origin linear
wait "$reader" || fail "the reads that waited: $(<"$TMPDIR/reader")"
is reads_waiting 0

# Timeout 0 must end the waiting reads.
origin error
reader
good set nc origin_timeout=0
! wait "$reader" || fail "read from nowhere"
is reads_waiting 0
check -n 2048
origin linear
check
[[ $(dmsetup table nc) == *' origin_timeout 0' ]] || fail "table: $(dmsetup table nc)"
good close nc
