#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each system call with which an export changes the kernel's state fails once, and once the run is
# killed there. After an error everything is as before; after a kill the next run completes the export.
# kernels: 6.12
# when: soak
# cpus: 1
. ./fabric.sh
type -P strace >/dev/null || skip "no strace"

# broken CALL NUMBER WHAT: run an export in which WHAT happens to this call; false if it has fewer.
broken() {
	env -u SECRET strace -qq -o "$TMPDIR/trace" -e trace="$1" -e inject="$1:$3:when=$2" \
		./fabric apply "$NQN" "$D" "$UUID" 127.0.0.1 4420 "$ME" "$OTHER" 2>"$TMPDIR/err" && rc=0 || rc=$?
	grep -qE 'INJECTED|killed by SIGKILL' "$TMPDIR/trace" && return
	good remove "$NQN"
	return 1
}

protected() {
	same "read-only after $*" "$(blockdev --getro "$D")" 1
}

fresh_export
modprobe -a nvmet nvmet-tcp
steps=0
for call in mkdir chmod symlink write ioctl; do
	for ((n = 1; ; n++)); do
		broken $call $n error=ENOMEM || break
		((++steps))
		# The serial and model numbers are for people: without them an export is complete.
		if ((rc)); then
			same "configfs after $call $n: $(<"$TMPDIR/err")" "$(config)" ""
		else
			served "$ME" "$OTHER"
		fi
		[[ $call == ioctl ]] || protected "an error of $call $n"
		good remove "$NQN"
		broken $call $n signal=KILL || break
		[[ $rc == 137 ]] || fail "not killed: $rc"
		served "$ME"
		protected "a kill at $call $n"
		same "port" "$(ls "$CONFIG"/ports/*/subsystems)" "$NQN"
		same "allowed" "$(ls "$CONFIG/subsystems/$NQN/allowed_hosts")" "$ME"
		same "enabled" "$(<"$CONFIG/subsystems/$NQN/namespaces/1/enable")" 1
		good remove "$NQN"
		rmdir "$CONFIG/hosts/"* 2>/dev/null || true
		same "configfs" "$(config)" ""
	done
done
((steps > 20)) || fail "only $steps steps"
echo "# $steps steps"
served "$ME"
connected
./blockdata read "$dev" || fail "wrong data"
