#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A signal interrupts a suspend, with or without flush, that waits for a hit at a hung cache device
# while the origin fails. Reads that wait for the origin must go on waiting, and later reads too.
# cpus: 1
. ./gate.sh
OPTIONS='4 cache_timeout 0 origin_timeout 600'

# suspending: does the suspend wait in the kernel?
suspending() {
	grep -qw dm_suspend "/proc/$suspender/stack"
}

# interrupted WAITING OPTIONS: begin a suspend during which WAITING reads wait for the origin in
# nearcache; interrupt the suspend.
interrupted() {
	dmsetup suspend --noudevsync "${@:2}" nc &
	suspender=$!
	gate until nc reads_waiting = "$1"
	wait_for 30 suspending || fail "suspend $2 does not wait for the hit"
	kill -TERM "$suspender"
	! wait "$suspender" || fail "suspend $2 completed"
	gate state nc
	[[ $REPLY == live* ]] || fail "after an interrupted suspend $2: $REPLY"
}

# waits ID SECTOR N: read uncached data; fail unless N reads wait for the origin then.
waits() {
	gate read "$1" "$NC" "$2" 8
	gate until nc reads_waiting = "$3"
}

gates 8 16
between read-only
cached 0 128
gate hold cache read
gate read hit "$NC" 0 8
gate held cache 1
gate fail origin read
waits first 1024 1
interrupted 0 --noflush
gate until nc reads_waiting = 1
waits second 2048 2
interrupted 2
waits third 3072 3
interrupted 0 --noflush
gate until nc reads_waiting = 3
gate busy hit

gate pass origin
for read in first second third; do
	ends $read 1x8
done
gate pass cache
gate let cache all
ends hit 1x8
is reads_waiting 0
gate suspend nc
expect 'done'
gate resume nc
expect 'done'
agrees 0 4096 1x4096
