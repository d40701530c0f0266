# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for the tests in this directory: . ./common.sh
# shellcheck source=tests/vm/guest/lib.sh
. "${VM_LIB:-/vm/lib.sh}"

# shellcheck disable=SC2034 # for the tests
MODULE=/nearcache/dm-nearcache.ko

cleanups=()

# at_exit COMMAND...: run COMMAND when the test ends, however it ends; the last one first.
at_exit() {
	cleanups+=("$(printf '%q ' "$@")")
}

run_cleanups() {
	# A cleanup command may set a variable "rc": use a name that no command uses.
	local ended_with=$? i
	trap - EXIT
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
		eval "${cleanups[i]}" || echo "cleanup failed: ${cleanups[i]}" >&2
	done
	exit "$ended_with"
}
trap run_cleanups EXIT

# others 0|1: switch all processors except the first off or on. The kernel patches its code when an
# event, or a program on it, is switched on or off. Under emulation the other processors were seen
# to run a breakpoint that is already removed, so they are off meanwhile.
others() {
	local files=(/sys/devices/system/cpu/cpu[1-9]*/online)
	[[ -e ${files[0]} ]] || files=()
	tee "${files[@]}" <<<"$1" >/dev/null || fail "processors cannot be switched"
}

# trace_events 0|1 EVENT...: switch these kernel trace events off or on.
trace_events() {
	local on=$1 event
	shift
	others 0
	for event; do
		echo "$on" >"/sys/kernel/tracing/events/$event/enable" || fail "no event $event"
	done
	others 1
}

# times N: print how often to repeat something: N, or ten times N in 'make soak'.
times() {
	echo $(($1 * (${SOAK:-0} ? 10 : 1)))
}
