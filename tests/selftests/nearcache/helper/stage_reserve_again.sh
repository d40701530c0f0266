#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A log whose origin has a reservation that the log or the connection does not know: of an earlier
# connection with the origin, or of a run that was interrupted before it recorded the reservation.
# kernels: 6.12
# cpus: 1
# timeout: 300
# allow-log: reservation conflict
. ./cache.sh
. ./command.sh
. ./reservation.sh

# connect_again NUMBER: replace the connection with the volume by a new one, which has no key.
connect_again() {
	echo 1 >"$(sys_block "$O")/device/delete"
	volume_node O "$1"
	open=(open nc --cache "$C" --origin "$O")
}

make_volume 64
make_null C local 24
make_null L log 32
at_exit gone
new=(create nc --cache "$C" --block-size 64K --force --stage "$L" --reserve)
good "${new[@]}" --origin "$O" --rate 64K -j
key=$(json reservation_key)
./blockdata write /dev/mapper/nc -n 16384 -g 2
good close nc --keep
connect_again 3
good "${open[@]}" --no-reserve --rate 64K
other_writes || fail "--no-reserve does not release the origin"
good close nc --keep

# The run has reserved the origin.
./reserve "$O" register "$key" && ./reserve "$O" take "$key" || fail "no reservation"
run "${open[@]}"
[[ $rc == 0 && $err == *"with the key $key of this log"* ]] || fail "exit $rc, no warning: $err"
good stage drain nc --wait
./blockdata read "$O" -n 16384 -g 2 >/dev/null || fail "the origin lacks writes"
good close nc
other_writes || fail "close keeps the reservation"

# The log is given up over a new connection.
good "${open[@]}" --reserve
good close nc --keep
connect_again 4
good "${open[@]}" --abandon-stage
other_writes || fail "--abandon-stage keeps the reservation"
