#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The commands of nearcache(7), "The same job again", with a cache that holds half of the recorded
# data, and a second run that starts late: the replay waits and says so, and the run finds in the
# cache all files that fit. The percentage is that of the bytes brought.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./shards.sh

# page_commands: print the commands of the page, with the device and the folder of this test.
page_commands() {
	sed -n '/^\.SS The same job again/,/^\.RE/s/^# //p' nearcache.7 |
		sed "s/\\\\-/-/g; s/ demo / nc /; s|/var/lib|$TMPDIR|"
}

recording() {
	grep -q recording "$TMPDIR/said"
}

# train: the job; a test of this script runs when it starts, and before each file.
train() {
	$at_start
	local i
	for ((i = 0; i < 128; i++)); do
		$before_file "s$((i * 29 % 128)).tar"
		direct "s$((i * 29 % 128)).tar"
	done
}

is_recording() {
	wait_for 30 recording || fail "it does not record: $(<"$TMPDIR/said")"
}

# brought: check the percentage of the replay, and set $brought to the bytes that it has brought.
brought() {
	good jobs nc -j
	brought=$(($(json fetched_bytes) + $(json present_bytes)))
	awk "BEGIN { d = $(json 'done') - $brought / $(json bytes); exit !(d * d < .0001) }" || fail "percentage: $out"
}

# is_waiting: the replay has brought what the cache holds, and says that it waits for readers.
is_waiting() {
	wait_for 60 job_is waiting || fail "the replay does not wait: $out"
	expect running 1
	brought
	((brought > 0 && brought < 10 << 20)) || fail "$brought bytes of 16 MiB: $out"
	missed=$(field misses)
}

# is_ahead FILE: the first 40 files fit, with all blocks that they share with others.
is_ahead() {
	((++files <= 40)) || return 0
	wait_for 60 is_cached "$1" || fail "$1 is not there before its reader: $out"
	same "misses" "$(field misses)" "$missed"
}

stop_recorder() {
	kill %1 2>/dev/null
	wait
}

mapfile -t commands < <(page_commands)
same "commands of the page" ${#commands[@]} 3
shards_made 24 10
at_exit stop_recorder
for i in {0..127}; do
	head -c 128k /dev/urandom >"$M/s$i.tar"
done
shards_cached
eval "${commands[0]}" 2>"$TMPDIR/said" >"$TMPDIR/recorded"
at_start=is_recording before_file=:
eval "${commands[1]}" || fail "recording: $(<"$TMPDIR/said")"
good trace show "$TMPDIR/job.trace" -j
(($(json bytes) >= 16 << 20)) || fail "not all reads are in the trace: $out"
run invalidate nc
at_start=is_waiting before_file=is_ahead files=0
eval "${commands[2]}" >"$TMPDIR/replayed" || fail "replay"
first=$brought
brought
((brought > first)) || fail "nothing was brought after the first part: $out"
