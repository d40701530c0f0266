#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Guest side of tests/selftests/run: run the tests of a list, one after the other.
#   usage: runner.sh FIRST_NUMBER     /selftests/list holds lines "NAME LIMIT"
#
# Protocol on stdout, one record per line:
#   @ start NUMBER NAME
#   = TEXT                            output of the test
#   k RECORD                          kernel log during the test
#   @ end NUMBER CODE SECONDS REASON  REASON is '-' or a problem that the runner found
# Exit: 0 all tests were run, 3 the remaining tests need a new boot.
. /vm/lib.sh
. /selftests/leftovers.sh
. /selftests/debug.sh
KMSG=/run/selftest-kmsg

kernel_log() {
	echo "<6>nearcache-test: $*" >/dev/kmsg
}

# start_test NAME: start the test; sets pid and printer.
start_test() {
	local out
	mkfifo /run/selftest-out
	awk '{ print "= " $0; fflush() }' </run/selftest-out &
	printer=$!
	exec {out}>/run/selftest-out
	rm /run/selftest-out
	mkdir -p /tmp/selftest
	# The test gets its own session, so that the runner finds every process of the test.
	TMPDIR=/tmp/selftest setsid "./$1" >&"$out" 2>&1 </dev/null {out}>&- &
	pid=$!
	exec {out}>&-
}

# tell_session: log each process of the test; sysrq would omit one that spins in the kernel.
tell_session() {
	local task name line
	while read -r task name; do
		kernel_log "process $task ($name):"
		while IFS= read -r line; do
			kernel_log "  $line"
		done < <(grep -E "^(State|Sig|Shd)" "/proc/$task/status" && cat "/proc/$task/stack")
	done < <(session_members "$pid")
}

ended() {
	! kill -0 "$1" 2>/dev/null
}

# await_test LIMIT: wait for the end of the test; sets rc and reason.
await_test() {
	local deadline=$((SECONDS + $1)) pause=0.04 often=$((SECONDS + 2))
	# Poll, because "wait -n" has missed the end of a child; rarely, because each poll starts a
	# process and the machine may be emulated.
	until ended "$pid" || ((SECONDS > deadline)); do
		nap $pause
		((SECONDS < often)) || pause=0.2
	done
	if ! ended "$pid"; then
		reason="no end within $1 s"
		kernel_log "over the limit; blocked tasks:"
		echo w >/proc/sysrq-trigger
		tell_session
		kill -TERM -- "-$pid"
		wait_for "$GRACE" ended "$pid" || kill_session "$pid"
		if ! wait_for 5 ended "$pid"; then
			reason="hung: cannot be killed"
			kernel_log "not killed; processors:"
			echo l >/proc/sysrq-trigger
			tell_session
			rc=124
			return
		fi
	fi
	wait "$pid"
	rc=$?
}

load_module() {
	[[ ! -e /sys/module/dm_nearcache ]] || return 0
	[[ -e /nearcache/dm-nearcache.ko ]] || { echo '= no module for this kernel was built'; return 1; }
	insmod /nearcache/dm-nearcache.ko 2>&1 | sed 's/^/= /'
	[[ -e /sys/module/dm_nearcache ]]
}

# Wipe the drives, so that a test does not find data of an earlier test.
wipe_drives() {
	local dev
	for dev in "$(local_dev)" "$(remote_backing)"; do
		blkdiscard -f "$dev" 2>/dev/null || dd if=/dev/zero of="$dev" bs=1M count=4 2>/dev/null
	done
}

# tidy_up: remove leftovers; sets reason if there were any, and stop if only a new boot helps.
tidy_up() {
	local left line
	left=$(leftovers "$pid" 2>&1)
	if [[ $left ]]; then
		while IFS= read -r line; do
			echo "= left behind: $line"
		done <<<"$left"
		reason=${reason:-left behind: ${left//$'\n'/; }}
		remove_leftovers "$pid" | sed 's/^/= /'
		[[ -z $(leftovers "$pid" 2>&1) ]] || stop=1
	fi
	wait "$printer"
	rm -rf /tmp/selftest
	if [[ -e /sys/module/dm_nearcache ]] && ! rmmod dm-nearcache; then
		reason=${reason:-the module cannot be unloaded}
		stop=1
	fi
	reason=${reason:-$(debug_ends)}
}

# kernel_part MARK: print the kernel log since the last call.
kernel_part() {
	local seen=$kmsg_seen
	kernel_log "$1"
	wait_for 10 grep -qe "nearcache-test: $1" "$KMSG" || echo "= the kernel log could not be read"
	kmsg_seen=$(stat -c %s "$KMSG")
	tail -c "+$((seen + 1))" "$KMSG" | sed 's/^/k /'
}

# run_test NUMBER NAME LIMIT: run a test for at most LIMIT seconds, and report it.
run_test() {
	local start=$EPOCHREALTIME tenths
	rc=1 reason='' pid=$$
	echo "@ start $1 $2"
	kernel_log "$1 starts: $2"
	wipe_drives
	if load_module; then
		debug_starts "$1" "$2"
		start_test "$2"
		await_test "$3"
		# A guest with an unkillable process cannot be inspected further.
		if [[ $reason == hung* ]]; then
			stop=1
		else
			tidy_up
		fi
	else
		reason='the module cannot be loaded'
	fi
	kernel_part "$1 ends"
	tenths=$(((${EPOCHREALTIME/./} - ${start/./}) / 100000))
	echo "@ end $1 $rc $((tenths / 10)).$((tenths % 10)) ${reason:--}"
}

number=$1 stop='' kmsg_seen=0
cd /selftests/nearcache || exit
cat /dev/kmsg >"$KMSG" &
leftovers_init
debug_init
kernel_part 'runner starts' >/dev/null
while read -r name limit; do
	run_test "$number" "$name" "$limit" 2>&1
	number=$((number + 1))
	[[ ! $stop ]] || exit 3
done </selftests/list
