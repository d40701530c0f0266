#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Checkpoints are written to ext4 on a stage whose log is a raid1, and one of its drives dies at the n-th
# request: no error, and the other drive alone has all bytes of the volume, as has the origin in the end.
# when: soak
. ./gate.sh
. ./stage.sh
. ./raid.sh

M=$TMPDIR/mnt
LAST=3

unmount() {
	! grep -q " $M " /proc/mounts || umount "$M"
}

# done_or_fail COMMAND...: run a gate command that must succeed.
done_or_fail() {
	done_by "$@" || fail "drive $dead dies at request $n: $*: $REPLY"
}

# stage_on LOG: start the stage.
stage_on() {
	done_or_fail create st "$(sectors "$O") nearcache-stage $1 $O"
}

# sum DEV: print the SHA-256 of its content.
sum() {
	drop_caches
	sha256sum <"$1"
}

# requests DRIVE: set $count to the requests since the last call.
requests() {
	gate seen "$1"
	read -r reads writes flushes _ <<<"$REPLY"
	count=$((reads + writes + flushes))
}

# dies DRIVE N: the drive dies after N requests.
dies() {
	local name want
	dead=$1 n=$2
	for name in origin log log2; do
		gate restore $name
	done
	raid_up "$L" "$second" 20480 || skip "no raid1 here"
	requests "$dead"
	gate break "$dead" any "$n"
	stage_on /dev/md127
	mount "$NC" "$M" && ./checkpoints write "$M" - 1 $LAST && umount "$M" ||
		fail "drive $dead dies at request $n: cannot write"
	want=$(sum "$NC")
	done_or_fail remove st
	raid_down
	requests "$dead"
	gate pass "$dead"
	[[ $dead == log ]] && stage_on "$second" || stage_on "$L"
	same "content of the other drive, $dead dies at request $n" "$(sum "$NC")" "$want"
	stage_drained
	same "content of the origin, $dead dies at request $n" "$(sum "$O")" "$want"
	done_or_fail remove st
	mount -o ro "$O" "$M" && ./checkpoints check "$M" 1 $LAST 0 0 0 || fail "files, $dead dies at request $n"
	umount "$M"
}

gated_stage 16 20
stage_stop
gate device log2 20 trim zeroes flush fua
second=$REPLY
at_exit raid_down
at_exit stage_stop
at_exit unmount
mkdir "$M"
mkfs.ext4 -qF -b 1024 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$O" && mount "$O" "$M" &&
	./checkpoints begin "$M" && umount "$M" || fail "no file system"
for dev in "$L" "$second"; do
	./stage_format "$dev" "$(sectors "$O")" || fail "stage_format"
done
for name in origin log log2; do
	gate keep $name
done
parts=${SOAK:+100} parts=${parts:-4} faults=0
for drive in log log2; do
	dies $drive 1000000
	all=$count
	for ((at = 0; at < all; at += all / parts)); do
		dies $drive $at
		faults=$((faults + 1))
	done
done
echo "{\"faults_injected\": $faults}"
