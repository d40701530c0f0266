# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for the tests in this directory: . ./common.sh
# shellcheck source=tests/vm/guest/lib.sh
. "${VM_LIB:-/vm/lib.sh}"

# shellcheck disable=SC2034 # for the tests
MODULE=/nearcache/dm-nearcache.ko

cleanups=()

# at_exit COMMAND...: run COMMAND when the test ends, in any way; the command added last runs first.
at_exit() {
	cleanups+=("$(printf '%q ' "$@")")
}

run_cleanups() {
	# Not "rc": a cleanup command may set that variable.
	local ended_with=$? i
	trap - EXIT
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
		eval "${cleanups[i]}" || echo "cleanup failed: ${cleanups[i]}" >&2
	done
	exit "$ended_with"
}
trap run_cleanups EXIT

# others 0|1: switch all processors except the first off or on. When a trace event, or a program on
# it, is switched, the kernel patches its code. Under emulation another processor may then run a
# breakpoint that is already removed, so a test switches the other processors off before.
others() {
	local files=(/sys/devices/system/cpu/cpu[1-9]*/online)
	[[ -e ${files[0]} ]] || files=()
	tee "${files[@]}" <<<"$1" >/dev/null || fail "processors cannot be switched"
}

# trace_events 0|1 EVENT...: switch these kernel trace events off or on, on one processor.
trace_events() {
	local on=$1 event
	shift
	others 0
	for event; do
		echo "$on" >"/sys/kernel/tracing/events/$event/enable" || fail "no event $event"
	done
	others 1
}

# times N: print the number of repetitions: N, or ten times N in 'make soak'.
times() {
	echo $(($1 * (${SOAK:-0} ? 10 : 1)))
}
