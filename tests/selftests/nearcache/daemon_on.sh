# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# nearcache daemon in the background: . ./daemon_on.sh, after common.sh or cache.sh.

LOG=${TMPDIR:-/tmp}/log
daemon=

# daemon_begin OPTIONS...: with these; said looks at what this one says alone.
daemon_begin() {
	: >"$LOG"
	nearcache daemon "$@" 2>>"$LOG" &
	daemon=$!
}

# said PATTERN: did the daemon say so?
said() {
	grep -qE -- "$1" "$LOG"
}

# daemon_on OPTIONS...: the same, and it has begun to look.
daemon_on() {
	daemon_begin "$@"
	wait_for 20 said 'looking after devices' || fail "the daemon: $(<"$LOG")"
}

daemon_alive() {
	kill -0 "$daemon" 2>/dev/null || fail "the daemon is gone: $(<"$LOG")"
}

# daemon_end: as systemd ends it.
daemon_end() {
	daemon_alive
	kill "$daemon"
	wait "$daemon" || fail "the daemon: $? $(<"$LOG")"
	daemon=
}

# no_daemon: at the end of a test.
no_daemon() {
	[[ ! $daemon ]] || kill -9 "$daemon" || true
}
