#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A run that takes a host from an export, or makes hosts prove a secret, is killed at each of its
# changes: the export then serves no host that may not connect, so that no old connection remains.
# kernels: 6.12
# cpus: 1
. ./fabric.sh
type -P strace >/dev/null || skip "no strace"

# killed CALL NUMBER HOST...: kill an export at this call; false if it has fewer.
killed() {
	strace -qq -o "$TMPDIR/trace" -e trace="unlink,$1" -e inject="$1:signal=KILL:when=$2" \
		./fabric apply "$NQN" "$D" "$UUID" 127.0.0.1 4420 "${@:3}" 2>"$TMPDIR/err" || true
	grep -q 'killed by SIGKILL' "$TMPDIR/trace"
}

# unchanged: are both hosts allowed without a secret?
unchanged() {
	[[ -e $CONFIG/subsystems/$NQN/allowed_hosts/$ME && -e $CONFIG/subsystems/$NQN/allowed_hosts/$OTHER &&
		! $(cat "$CONFIG"/hosts/*/dhchap_key) ]]
}

# each HOST...: while both hosts are served without a secret, kill an export to HOSTs at each of its calls.
each() {
	local call n
	for call in unlink rmdir mkdir symlink write; do
		for ((n = 1; ; n++)); do
			SECRET='' served "$ME" "$OTHER"
			killed $call $n "$@" || break
			((++steps))
			[[ ! $(ls "$CONFIG"/ports/*/subsystems) ]] || unchanged ||
				grep -q 'unlink.*/ports/.* = 0' "$TMPDIR/trace" ||
				fail "the connections remain after $call $n: $(<"$TMPDIR/trace")"
		done
	done
}

fresh_export
steps=0
each "$ME"
SECRET=$(nvme gen-dhchap-key -m 0 -n "$ME" | tail -n 1) each "$ME" "$OTHER"
((steps > 8)) || fail "only $steps steps"
echo "# $steps steps"
SECRET='' served "$ME" "$OTHER"
connected
./blockdata read "$dev" || fail "wrong data"
