#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An export changes while a host reads it: hosts come without disturbing it; a host that is no longer
# allowed loses its connection, and the other ones connect again by themselves. What a killed run left
# half done is completed, and an error undoes everything.
# kernels: 6.12
. ./fabric.sh

state_is() {
	[[ $(cat "/sys/class/nvme/$1/state" 2>/dev/null) == "$2" ]]
}

# gone: is $OTHER not connected any more? A kernel 6.1 tries for ever.
gone() {
	# shellcheck disable=SC2046 # several words
	good find $(link "$OTHER" "$OTHER_ID")
	[[ ! $out || $out == *" lost" ]]
}

# undone CODE TEXT WORDS...: an export that fails must leave configfs as it was.
undone() {
	local before
	before=$(config)
	bad "$1" "$2" apply "${@:3}"
	same "configfs after '$2'" "$(config)" "$before"
}

fresh_export
# A half of an export, as a killed run leaves it, and a disk that looks writable.
modprobe -a nvmet nvmet-tcp
mkdir "$CONFIG/hosts/$ME" "$CONFIG/subsystems/$NQN" "$CONFIG/subsystems/$NQN/namespaces/1" "$CONFIG/ports/1"
echo 127.0.0.1 >"$CONFIG/ports/1/addr_traddr"
dmsetup message nc 0 write_opens allow
served "$ME"
same "ports" "$(ls "$CONFIG/ports")" 1
same "read-only" "$(blockdev --getro "$D")" 1
dmsetup message nc 0 write_opens allow
served "$ME"
same "read-only" "$(blockdev --getro "$D")" 1
connected
mine=$controller
served "$ME" "$OTHER"
state_is "$mine" live || fail "a new host disturbs: $(<"/sys/class/nvme/$mine/state")"
# shellcheck disable=SC2046
good connect $(link "$OTHER" "$OTHER_ID")
# Errors of all kinds.
make_null S stranger 4
undone 5 "exports '$D' already, not '$S'" "$NQN" "$S" "$UUID" 127.0.0.1 4420 "$ME"
undone 4 "does not have that address" "$OTHER" "$D" "$UUID" 192.0.2.1 4420 "$ME"
undone 4 "/dev/null" "$OTHER" /dev/null "$UUID" 127.0.0.1 4420 "$ME"
undone 4 "/dev/absent" "$OTHER" /dev/absent "$UUID" 127.0.0.1 4420 "$ME"
undone 4 "device_uuid" "$OTHER" "$D" no-uuid 127.0.0.1 4420 "$ME"
blockdev --setro "$S"
undone 4 "only if it is a nearcache device" "$OTHER" "$S" "$UUID" 127.0.0.1 4420 "$ME"
TLS=1 undone 5 "without TLS" "$OTHER" "$D" "$UUID" 127.0.0.1 4420 "$ME"
state_is "$mine" live || fail "an error disturbs"
# A host that is no longer allowed.
served "$ME"
wait_for 30 gone || fail "still connected: $out"
wait_for 30 state_is "$mine" live || fail "the other host did not come back"
same "hosts" "$(ls "$CONFIG/hosts")" "$ME"
./blockdata read "$dev" || fail "wrong data"
# A second subsystem shares the port, and keeps it. Another port: the connection moves there.
good apply "$OTHER" "$D" "$UUID" 127.0.0.1 4420 "$ME"
good apply "$NQN" "$D" "$UUID" 127.0.0.1 4421 "$ME"
good connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4421
same "connections" "$(grep -lx "$NQN" /sys/class/nvme/nvme*/subsysnqn | wc -l)" 1
./blockdata read "${out%% *}" || fail "wrong data at the other port"
good remove "$OTHER"
same "ports" "$(ls "$CONFIG/ports")" 2
