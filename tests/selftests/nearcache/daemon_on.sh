# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Run "nearcache daemon" in the background: . ./daemon_on.sh, after common.sh or cache.sh.

LOG=${TMPDIR:-/tmp}/log
daemon=

# daemon_begin OPTIONS...: start the daemon with an empty log $LOG.
daemon_begin() {
	: >"$LOG"
	nearcache daemon "$@" 2>>"$LOG" &
	daemon=$!
}

# said PATTERN: does the daemon's log contain PATTERN?
said() {
	grep -qE -- "$1" "$LOG"
}

# daemon_on OPTIONS...: start the daemon and wait until it watches the devices.
daemon_on() {
	daemon_begin "$@"
	wait_for 20 said 'looking after devices' || fail "the daemon: $(<"$LOG")"
}

daemon_alive() {
	kill -0 "$daemon" 2>/dev/null || fail "the daemon is gone: $(<"$LOG")"
}

# daemon_end: end the daemon with SIGTERM, as systemd does; it must exit with 0.
daemon_end() {
	daemon_alive
	kill "$daemon"
	wait "$daemon" || fail "the daemon: $? $(<"$LOG")"
	daemon=
}

# no_daemon: kill the daemon if it still runs; for at_exit.
no_daemon() {
	[[ ! $daemon ]] || kill -9 "$daemon" || true
}
