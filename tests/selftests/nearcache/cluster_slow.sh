#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A peer that is slower than the origin and other peers gets no reads until it is fast again. A peer
# as slow as the origin keeps its reads, and so do peers that are all slow.
# kernels: 6.12
# when: soak
# cpus: 1
. ./cluster.sh
ORIGIN=/dev/mapper/far

fresh_cluster 16 "2 stall_timeout 10000"
stop=$TMPDIR/stop
at_exit touch "$stop"
./blockdata read /dev/mapper/cl -f "$stop" -t 4 -b 64 -a 1 >"$TMPDIR/log" &
reader=$!
measured() {
	(($(origin_latency) >= $1))
}
wait_for 20 measured 1 || fail "the origin is not measured: $(dmsetup status cl)"
log_mark
event=$(dmsetup info -c --noheadings -o events cl)
becomes two "$(delayed 60)"
dmsetup wait --noflush cl "$event" || fail "no dm event"
await_state 2 $SLOW
log_since | grep -q "node two is slow ([0-9]* us, origin [0-9]* us)" || fail "log: $(log_since)"
begun=$(node begun 2)
right
same "reads at the slow peer" "$(node begun 2)" "$begun"
same "state of the first peer" "$(node state 1)" $UP
# A slow peer may fail, and comes back when it answers; then it is slow again.
log_mark
broken two
failed_once() {
	log_since | grep -q "node two failed"
}
wait_for 20 failed_once || fail "a slow peer with errors has not failed"
becomes two "$(delayed 60)"
await_state 2 $SLOW
mended two
await_state 2 $UP
# stay COUNT: all peers stay up while COUNT reads of the first one end.
stay() {
	local ended i
	ended=$(node ended 1)
	ended=$((ended + $1))
	wait_for 60 at_least || fail "no reads: $(dmsetup status cl)"
	for i in 1 2 3; do
		same "state" "$(node state "$i")" $UP
	done
}
at_least() {
	(($(node ended 1) >= ended))
}
# A peer as slow as the origin stays.
becomes far "$(delayed 60)"
becomes one "$(delayed 60)"
stay 60
measured 10000000 || fail "latency of the origin: $(origin_latency)"
becomes far "$(linear)"
mended one
# If all peers are slow, they stay as well.
for name in "${PEERS[@]}"; do
	becomes "$name" "$(delayed 60)"
done
stay 60
touch "$stop"
wait $reader || fail "readers: $(tail -n 3 "$TMPDIR/log")"
