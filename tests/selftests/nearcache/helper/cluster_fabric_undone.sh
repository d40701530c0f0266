#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A change of an export that fails at one of its system calls is undone: hosts, secrets, port and
# UUID are as before, and nvmet has the device open again.
# kernels: 6.12
# when: soak
# cpus: 1
. ./fabric.sh
type -P strace >/dev/null || skip "no strace"

# values: print all attributes that this export sets, with their values, and all links.
values() {
	(cd "$CONFIG" && grep -H . hosts/*/dhchap*key ports/*/addr_* subsystems/*/attr_allow_any_host \
		subsystems/*/namespaces/*/{device_path,device_uuid,enable}; find . -type l | sort)
}

# broken CALL NUMBER WORDS...: fail this call of an export; false if it has fewer.
broken() {
	strace -qq -o "$TMPDIR/trace" -e trace="$1" -e inject="$1:error=ENOMEM:when=$2" \
		./fabric apply "$NQN" "$D" "${@:3}" 2>"$TMPDIR/err" && rc=0 || rc=$?
	grep -q INJECTED "$TMPDIR/trace"
}

# each WORDS...: break a change at each of its calls.
each() {
	local call n
	for call in unlink rmdir mkdir symlink write; do
		for ((n = 1; ; n++)); do
			broken $call $n "$@" || break
			((++steps))
			[[ $rc == 0 ]] && break
			same "values after $call $n: $(<"$TMPDIR/err")" "$(values)" "$before"
			same "read-only after $call $n" "$(blockdev --getro "$D")" 1
		done
		((rc)) || SECRET=$first served "$ME" "$OTHER"
	done
}

fresh_export
first=$(nvme gen-dhchap-key -m 0 -n "$ME" | tail -n 1)
second=$(nvme gen-dhchap-key -m 0 -n "$ME" | tail -n 1)
SECRET=$first
[[ $SECRET == DHHC-1:* ]] || fail "no secret"
steps=0
served "$ME" "$OTHER"
before=$(values)
# Another secret, UUID and port; one host goes.
SECRET=$second each "${UUID%1}2" 127.0.0.1 4421 "$ME"
same "values" "$(values)" "$before"
((steps > 8)) || fail "only $steps steps"
echo "# $steps steps"
connected
./blockdata read "$dev" || fail "wrong data"
