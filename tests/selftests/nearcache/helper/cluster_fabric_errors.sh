#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An export that fails leaves configfs as it was, disturbs no connection, and says what to do.
# kernels: 6.12
. ./fabric.sh

# undone CODE TEXT WORDS...: an export that fails must leave configfs as it was.
undone() {
	local before
	before=$(config)
	bad "$1" "$2" apply "${@:3}"
	same "configfs after '$2'" "$(config)" "$before"
}

# other DEVICE [UUID [ADDRESS]]: the words of an export as a second subsystem.
other() {
	echo "$OTHER $1 ${2:-$UUID} ${3:-127.0.0.1} 4420 $ME"
}

fresh_export
# Without the module.
modprobe -r nvmet-tcp nvmet
rc=0
err=$(env -u SECRET PATH=/none ./fabric apply "$NQN" "$D" "$UUID" 127.0.0.1 4420 "$ME" 2>&1) || rc=$?
[[ $rc == 4 && $err == *"load the module 'nvmet'"* ]] || fail "without nvmet: exit $rc, $err"
served "$ME"
connected
make_null S stranger 4
undone 5 "exports '$D' already, not '$S'" "$NQN" "$S" "$UUID" 127.0.0.1 4420 "$ME"
# shellcheck disable=SC2046 # several words
{
	undone 4 "does not have that address" $(other "$D" "$UUID" 192.0.2.1)
	undone 4 "not a block device" $(other /dev/null)
	undone 4 "/dev/absent" $(other /dev/absent)
	undone 4 "device_uuid" $(other "$D" no-uuid)
	blockdev --setro "$S"
	undone 4 "only if it is a nearcache device" $(other "$S")
	blockdev --setrw "$S"
	TLS=1 undone 5 "without TLS" $(other "$D")
	SECRET=nonsense undone 5 "without a secret" $(other "$D")
}
# Another nvmet port listens on all addresses.
good apply "$OTHER" "$D" "$UUID" 0.0.0.0 4422 "$ME"
undone 5 "nvmet port uses it" "$ME" "$D" "$UUID" 127.0.0.1 4422 "$ME"
same "state" "$(<"/sys/class/nvme/$controller/state")" live
same "read-only" "$(blockdev --getro "$D")" 1
./blockdata read "$dev" || fail "wrong data"
