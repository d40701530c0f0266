#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log is a raid1 of which one drive dies at the n-th request: a write, descriptor, superblock, flush,
# or read of the recovery. No writer gets an error, and the other drive alone has all that was written.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh
. ./raid.sh

# flush: flush the stage; fail on an error.
flush() {
	gate flush f "$NC"
	ends f 'done'
}

# stage_on LOG: start the stage.
stage_on() {
	gate create st "16384 nearcache-stage $1 $O"
	expect 'done'
}

stage_off() {
	gate remove st
	expect 'done'
}

# checkpoint GENERATION: write data and flush it; then small writes with each kind of commit.
checkpoint() {
	puts "$1" 256 512
	flush
	puts "$1" 0 8
	flush
	gate write w "$NC" "$1" 16 8 sync
	ends w 'done'
	puts "$1" 2000 8
	puts "$1" 4000 1
	flush
}

# content WHERE: fail unless the stage, or the origin, has the last checkpoint.
content() {
	local part
	for part in '0 24 3x8 1x8 3x8' '250 520 1x6 3x512 1x2' '2000 8 3x8' '4000 2 3x1 1x1'; do
		read -r first count runs <<<"$part"
		if [[ $1 == origin ]]; then
			gate look origin "$first" "$count"
		else
			gate get "$NC" "$first" "$count"
		fi
		[[ $REPLY == "$runs" ]] || fail "drive $dead dies at request $n: $1 has $REPLY at $first, not $runs"
	done
}

# dies DRIVE N: the drive dies after N requests; false: it had fewer.
dies() {
	local other=$second
	[[ $1 == log ]] || other=$L
	dead=$1 n=$2
	for name in origin log log2; do
		gate restore $name
	done
	raid_up "$L" "$second" 20480 || skip "no raid1 here"
	gate seen "$dead"
	gate break "$dead" any "$n"
	stage_on /dev/md127
	checkpoint 2
	stage_off
	stage_on /dev/md127
	checkpoint 3
	content raid1
	stage_off
	raid_down
	gate seen "$dead"
	read -r reads writes flushes _ <<<"$REPLY"
	gate pass "$dead"
	# The drive that is left.
	stage_on "$other"
	content "$other"
	stage_drained
	content origin
	stage_off
	((reads + writes + flushes > n))
}

gated_stage 8 20
stage_stop
gate device log2 20 trim zeroes flush fua
second=$REPLY
at_exit raid_down
at_exit stage_stop
for dev in "$L" "$second"; do
	./stage_format "$dev" 16384 || fail "stage_format"
done
gate fill origin 1 0 16384
for name in origin log log2; do
	gate keep $name
done
# 'make check' takes every 32nd request, another one for each drive.
step=${SOAK:+1} step=${step:-32} faults=0
for drive in log log2; do
	at=0
	[[ $drive == log || ${SOAK:-} ]] || at=16
	for (( ; ; at += step)); do
		dies $drive $at || break
		((++faults < 800)) || fail "it does not end"
	done
	((at > 40)) || fail "drive $drive has only $at requests"
done
echo "{\"faults_injected\": $faults}"
