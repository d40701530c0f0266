#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Peers that fail, hang and come back: readers get neither errors nor wrong data, and the extents of
# a failed peer are read at their next homes, in the end here.
# kernels: 6.12
# when: soak
. ./cluster.sh

fresh_cluster 16 "2 stall_timeout 2000"
# Peers fail one by one, in the end all, and then come back.
i=0
for name in one two three; do
	i=$((i + 1))
	broken "$name"
	right -t 2
	failed_after_reads() {
		right >/dev/null
		state_is $i $FAILED
	}
	wait_for 20 failed_after_reads || fail "node $i returns errors and is not failed"
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

# No node can read some sectors: reads of these sectors fail, and the peers stay up.
becomes home "0 1024 linear $O 0
1024 8 error
1032 $(($(sectors "$O") - 1032)) linear $O 1032"
for name in "${PEERS[@]}"; do
	becomes "$name" "$(dmsetup table home)"
done
for ((i = 0; i < 20; i++)); do
	./blockdata read /dev/mapper/cl -e -b 8 -t 2 >"$TMPDIR/log" || fail "$(<"$TMPDIR/log")"
	[[ $(<"$TMPDIR/log") == *" eio 1 "* ]] || fail "$(<"$TMPDIR/log")"
done
for i in 1 2 3; do
	same "state" "$(node state "$i")" $UP
done
mended home "${PEERS[@]}"

# A peer hangs under readers: only the reads that it has already wait for it.
stop=$TMPDIR/stop
at_exit touch "$stop"
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
for ((i = 0; i < $(times 6); i++)); do
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
