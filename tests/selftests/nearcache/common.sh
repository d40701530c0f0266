# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for the tests in this directory: . ./common.sh
# shellcheck source=tests/vm/guest/lib.sh
. "${VM_LIB:-/vm/lib.sh}"

# shellcheck disable=SC2034 # for the tests
MODULE=/nearcache/dm-nearcache.ko

cleanups=()

# at_exit COMMAND...: run it when the test ends, however it ends; last one first.
at_exit() {
	cleanups+=("$(printf '%q ' "$@")")
}

run_cleanups() {
	# By a name that no command has: what it does to a variable of ours would be done to this one.
	local ended_with=$? i
	trap - EXIT
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
		eval "${cleanups[i]}" || echo "cleanup failed: ${cleanups[i]}" >&2
	done
	exit "$ended_with"
}
trap run_cleanups EXIT

# others 0|1: switch all processors but the first one off or on. When an event is switched on or
# off, or a program on it, the kernel patches itself: the emulator's other processors were seen to
# run a breakpoint that is not there any more, so they are off meanwhile.
others() {
	local files=(/sys/devices/system/cpu/cpu[1-9]*/online)
	[[ -e ${files[0]} ]] || files=()
	tee "${files[@]}" <<<"$1" >/dev/null || fail "processors cannot be switched"
}

# trace_events 0|1 EVENT...: switch kernel events of these folders off or on.
trace_events() {
	local on=$1 event
	shift
	others 0
	for event; do
		echo "$on" >"/sys/kernel/tracing/events/$event/enable" || fail "no event $event"
	done
	others 1
}

# times N: how often to repeat something; ten times as often in 'make soak'.
times() {
	echo $(($1 * (${SOAK:-0} ? 10 : 1)))
}
