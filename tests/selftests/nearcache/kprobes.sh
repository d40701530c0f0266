# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Probes of kernel functions while users without privileges send requests: . ./kprobes.sh (includes
# cache.sh).
. ./cache.sh

TRACE=/sys/kernel/tracing
declare -a asking probes

no_probes() {
	echo 0 >$TRACE/events/kprobes/enable
	echo >$TRACE/kprobe_events
	echo local >$TRACE/trace_clock
}

# probe TEXT: add a probe, see Documentation/trace/kprobetrace.rst; the end of the test removes all.
probe() {
	((${#probes[@]})) || at_exit no_probes
	probes+=("$1")
	echo "$1" >>$TRACE/kprobe_events || fail "no probe $1"
}

# make_second: create a cache, and the devices of a second one. Set $size, $type and $words, the
# parts of the second cache's table line, for dmcycle.
make_second() {
	make_null O2 second 8
	make_null C2 other 12
	fresh 4 12
	format "$C2" "$O2"
	# shellcheck disable=SC2034 # for the tests
	read -r _ size type words <<<"$(line '' "$O2" "$C2")"
}

# ask WORDS...: send the request as user 1000 again and again, in the background, until 'asked'.
ask() {
	while [[ ! -e $TMPDIR/enough ]]; do
		./genl -u 1000 "$@" >/dev/null || return 1
	done &
	asking+=($!)
}

# asked: end the requests of 'ask'; fail if one of them failed.
asked() {
	local pid
	touch "$TMPDIR/enough"
	for pid in "${asking[@]}"; do
		wait "$pid" || fail "a request was not answered"
	done
}
