#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Peers that fail, hang and come back: readers get neither errors nor wrong data, and the extents of
# a failed peer are read at their next homes, in the end here.
. ./cluster.sh

fresh_cluster 16 "2 stall_timeout 2000"
# Peers fail one by one, in the end all, and then come back.
for name in one two three; do
	broken "$name"
	right -t 2
	right
done
for i in 1 2 3; do
	await_state "$i" $FAILED
	(($(node errors "$i") > 0)) || fail "no error of node $i was counted"
done
before=$(node bytes 0)
right
same "bytes here" $(($(node bytes 0) - before)) $((16 << 20))
mended one two three
for i in 1 2 3; do
	await_state "$i" $UP
done
before=$(node bytes 2)
right
(($(node bytes 2) > before)) || fail "nothing was read at a node that came back"

# A peer hangs under readers: only the reads that it has already wait for it.
stop=$TMPDIR/stop
./blockdata read /dev/mapper/cl -f "$stop" -t 2 >"$TMPDIR/log" &
reader=$!
dmsetup suspend --noflush --nolockfs two || fail "suspend"
# The readers are stuck; the next ones do not ask this peer.
await_state 2 $FAILED
before=$(node begun 2)
right
same "reads at the peer that hangs" "$(node begun 2)" "$before"
dmsetup resume two || fail "resume"
await_state 2 $UP
touch "$stop"
wait $reader || fail "readers: $(tail -n 3 "$TMPDIR/log")"

# Nodes that break and come back at any time, under readers.
rm -f "$stop"
./blockdata read /dev/mapper/cl -f "$stop" -t 4 -b 1:256 -a 1 >"$TMPDIR/log" &
reader=$!
for ((i = 0; i < $(times 12); i++)); do
	name=${PEERS[i % 3]}
	broken "$name"
	right -b 64 -r 50
	mended "$name"
done
touch "$stop"
wait $reader || fail "readers: $(tail -n 3 "$TMPDIR/log")"
# The device goes while peers are failed.
broken one two
right
dm_remove cl || fail "remove"
