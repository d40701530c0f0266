#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A scrub must find damage that no reader has met, at the requested rate. Without checksums, scrubs
# with the origin, and the option verify for a sample of hits, find damage by comparison.
# kernels: 6.1
# cpus: 1
. ./cache.sh

idle() {
	[[ $(field scrub_left) == 0 ]]
}

# scrub WORDS...: run one pass to its end.
scrub() {
	local before
	before=$(field scrubs)
	dmsetup message nc 0 scrub start "$@" || fail "scrub start $*"
	wait_for 60 idle || fail "the scrub does not end: $(dmsetup status nc)"
	settle
	is scrubs $((before + 1))
}

# uptime_cs: the uptime in centiseconds.
uptime_cs() {
	local up
	read -r up _ </proc/uptime
	echo "${up/./}"
}

bypassed() {
	[[ $(field state) == 1 ]]
}

refused() {
	! dmsetup message nc 0 "$@" 2>/dev/null || fail "message accepted: $*"
}

INTEGRITY=crc32c fresh 16 24
. ./spoil.sh
for words in "scrub" "scrub start" "scrub start x" "scrub start 0 cache" \
	"scrub start 0 origin 1" "scrub stop now" "scrub stop"; do
	# shellcheck disable=SC2086 # words
	refused $words
done
scrub 0
is scrubbed_bytes 0
in_order
origin_mark
scrub 0
same "bytes from the origin" "$(origin_delta)" 0
is scrubbed_bytes 2097152
is damaged 0

# A scrub must fill damaged sub-blocks again.
spoil 77 1
spoil 1024 100
scrub 0
is damaged 14
all_hits
# A scrub with the origin reads all 2 MiB of the origin.
origin_mark
scrub 0 origin
same "bytes from the origin" "$(origin_delta)" 2097152
is verified 32
is damaged 14

# 2 MiB at 1 MiB/s take nearly 2 s: the scrub does not wait after the last 64 KiB.
start=$(uptime_cs)
scrub 1048576
took=$(($(uptime_cs) - start))
((took > 150)) || fail "2 MiB at 1 MiB/s took $took cs"

# Only one scrub runs at a time; a scrub survives a suspend and a reload, and a message stops it.
dmsetup message nc 0 scrub start 65536
refused scrub start 0
left=$(field scrub_left)
dmsetup suspend nc
refused scrub start 0
dmsetup resume nc
reload
((left > 0 && $(field scrub_left) > 0)) || fail "the scrub is over"
dmsetup message nc 0 scrub stop
idle || fail "the scrub did not stop"
dmsetup message nc 0 scrub start 65536
stop

# Without checksums: a plain scrub finds only read errors, a scrub with the origin finds damage.
format
. ./spoil.sh
start
in_order
spoil 640 8
scrub 0
is damaged 0
scrub 0 origin
is damaged 1
all_hits
spoil 2000 1
reload '2 verify 3'
is verify 3
events=$(dmsetup info -c --noheadings -o events nc)
# verify samples hits by their number: shift the reads, so that a pass samples the damaged one.
for ((i = 0; i < 20 && $(field damaged) == 1; i++)); do
	./blockdata read /dev/mapper/nc -s $((i % 3 * 8)) -n $((4096 - i % 3 * 8)) -b 8 >/dev/null || true
	settle
done
is damaged 2
[[ $(dmsetup info -c --noheadings -o events nc) != "$events" ]] || fail "no dm event"
dmesg | grep -q "8 sectors from 2000 on are not what the origin has: dropped" || fail "the log is silent"
is state 0
reload
all_hits
verified=$(field verified)
check -n 4096 -b 8 >/dev/null
is verified "$verified"

# Another host changed the origin, unreported: after 16 differences the cache is bypassed.
./blockdata write "$O" -g 2
reload '2 verify 1'
./blockdata read /dev/mapper/nc -n 4096 -b 8 -g 1 >/dev/null 2>&1 || true
wait_for 10 bypassed || fail "still in use: $(dmsetup status nc)"
is reason 6
check -g 2 >/dev/null
