# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Threads that write and read the usual cache while a test changes something: . ./stressing.sh,
# after cache.sh. The model of all sectors is $TMPDIR/model.

# stress_begin TWIN: start the threads, which send discards and zeroes to TWIN.
stress_begin() {
	./stress run /dev/mapper/nc "$TMPDIR/model" -s 600 -f "$TMPDIR/stop" -d \
		-z "$1" >"$TMPDIR/log" &
	stress_pid=$!
	at_exit stress_end
}

stress_end() {
	touch "$TMPDIR/stop"
	wait "$stress_pid"
}

wrote() {
	(($(field writes) > before + $1)) || ! kill -0 "$stress_pid" 2>/dev/null
}

# go_on WRITES WHAT...: fail unless WRITES more writes are done after WHAT, with no wrong data.
go_on() {
	before=$(field writes)
	wait_for 30 wrote "$1" || fail "no writes after: ${*:2}"
	kill -0 "$stress_pid" 2>/dev/null || fail "after ${*:2}: $(cat "$TMPDIR/log")"
}
