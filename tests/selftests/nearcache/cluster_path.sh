#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The connection to a peer is lost under readers: its reads, which the NVMe driver has marked as sent
# over one of several paths, go to a local NVMe drive, which has no paths.
# kernels: 6.12
# when: soak
# cpus: 1
. ./cluster.sh

cut_off() {
	remote_cut
	await_state 1 $FAILED
}

O=$(local_dev)
size=$((8 * 2048))
REMOTE_CONNECT="--keep-alive-tmo=1 --ctrl-loss-tmo=-1"
make_dm far far "0 $size linear $(remote_backing) 0"
peer=$(remote_up 0 "$far") || fail "no connection"
at_exit remote_down
at_exit remote_heal
echo 1 >"$(remote_controller)/fast_io_fail_tmo"
make_dm O volume "0 $size linear $(local_dev) 0"
./blockdata write "$O"
./blockdata write "$peer"
make_dm home home "0 $size linear $(local_dev) 0"
make_dm CL cl "$(cluster_line "me 1 - one 10 $peer")"
await_state 1 $UP
stop=$TMPDIR/stop
./blockdata read /dev/mapper/cl -f "$stop" -t 4 -b 64 -r 20 >"$TMPDIR/log" &
reader=$!
for ((i = 0; i < 2; i++)); do
	before=$(node ended 1)
	some_ended() {
		(($(node ended 1) > before + 20))
	}
	wait_for 20 some_ended || fail "nothing is read at the peer: $(dmsetup status cl)"
	cut_off
	lost() {
		[[ $(<"$(remote_controller)/state") != live && $(node begun 1) == "$(node ended 1)" ]]
	}
	wait_for 40 lost || fail "reads hang at the peer: $(dmsetup status cl)"
	remote_heal
	await_state 1 $UP
done
touch "$stop"
wait $reader || fail "readers: $(tail -n 3 "$TMPDIR/log")"
