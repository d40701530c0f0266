#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An export changes while a host reads it: hosts come without disturbing it; a host that is no longer
# allowed loses its connection, and the other ones connect again by themselves. What a killed run left
# half done is completed.
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
# nvmet keeps the model number of a subsystem that a host knows, and logs an attempt to change it.
log_mark
MODEL=newer served "$ME" "$OTHER"
! log_since | grep -i "model number" || fail "an attempt to change the model number"
state_is "$mine" live || fail "a new host disturbs: $(<"/sys/class/nvme/$mine/state")"
# shellcheck disable=SC2046
good connect $(link "$OTHER" "$OTHER_ID")
# A host that is no longer allowed.
served "$ME"
wait_for 30 gone || fail "still connected: $out"
wait_for 30 state_is "$mine" live || fail "the other host did not come back"
same "hosts" "$(ls "$CONFIG/hosts")" "$ME"
./blockdata read "$dev" || fail "wrong data"
# A second subsystem shares the port, and keeps it. Another address: the connection moves there.
good apply "$OTHER" "$D" "$UUID" 127.0.0.1 4420 "$ME"
good apply "$NQN" "$D" "$UUID" ::1 4421 "$ME"
good connect "$NQN" "$ME" "$ME_ID" ::1 4421
[[ $out == *" [::1]:4421 live" ]] || fail "connected: $out"
same "connections" "$(grep -lx "$ME" /sys/class/nvme/nvme*/hostnqn | wc -l)" 1
./blockdata read "${out%% *}" || fail "wrong data at the other address"
good remove "$OTHER"
same "ports" "$(ls "$CONFIG/ports")" 2
