# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Threads that write and read the usual cache while a test does something to it:
# . ./stressing.sh, after cache.sh. The model of what is where is $TMPDIR/model.

# stress_begin TWIN: discards and zeroes go to that device.
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

# go_on WRITES WHAT...: after that they still do, and nothing is wrong.
go_on() {
	before=$(field writes)
	wait_for 30 wrote "$1" || fail "nothing moves after: ${*:2}"
	kill -0 "$stress_pid" 2>/dev/null || fail "after ${*:2}: $(cat "$TMPDIR/log")"
}
