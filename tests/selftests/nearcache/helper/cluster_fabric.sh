#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache that is open in read-only mode is exported by nvmet, and read by a host that is allowed.
# All other hosts are refused. After the removal nothing is left in configfs.
. ./fabric.sh

fresh_export
served "$ME"
connected
same "UUID" "$uuid" "$UUID"
./blockdata read "$dev" || fail "wrong data"
same "the device is read-only again" "$(blockdev --getro "$D")" 1
same "any host" "$(<"$CONFIG/subsystems/$NQN/attr_allow_any_host")" 0
same "attempts for ever" "$(<"/sys/class/nvme/$controller/ctrl_loss_tmo")" off
same "reconnect delay" "$(<"/sys/class/nvme/$controller/reconnect_delay")" 1
same "fast_io_fail" "$(<"/sys/class/nvme/$controller/fast_io_fail_tmo")" 2
# A second call finds both; find needs no answer of the peer.
before=$(config)
served "$ME"
same "configfs" "$(config)" "$before"
# shellcheck disable=SC2046 # several words
good find $(link "$ME" "$ME_ID")
same "found" "$out" "$dev $UUID $controller 127.0.0.1:4420 live"
connected
same "controllers" "$(ls "/sys/class/nvme-subsystem/"*/ | grep -cx "$controller")" 1
# Nobody else connects, and each error says why.
# shellcheck disable=SC2046
bad 2 "does not allow this node" connect $(link "$OTHER" "$OTHER_ID")
# shellcheck disable=SC2046
good find $(link "$OTHER" "$OTHER_ID")
same "found" "$out" ""
bad 4 "does not export its cache under the expected name" connect "$UUIDS:$OTHER_ID" "$ME" "$ME_ID" 127.0.0.1 4420
bad 4 "exports nothing at this port" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4421
bad 1 "no numeric address" connect "$NQN" "$ME" "$ME_ID" localhost 4421
# The device cannot go while it is exported; the connection is lost when the export goes.
! dmsetup remove --noudevsync nc 2>/dev/null || fail "removed"
lost() {
	# shellcheck disable=SC2046
	good find $(link "$ME" "$ME_ID")
	[[ $out == *" lost" ]]
}
good remove "$NQN"
same "configfs" "$(config)" ""
wait_for 10 lost || fail "not lost: $out"
good disconnect "$NQN"
bad 4 "exports nothing at this port" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
good disconnect "$NQN"
good remove "$NQN"
check
stop
