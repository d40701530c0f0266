#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nodes join, leave, come back and change their weights while the device is read, without a suspend.
# A wrong message is refused, names the bad word, and changes nothing. If a node hangs and leaves,
# only the reads that were sent to it wait.
# kernels: 6.12
. ./cluster.sh

nodes() {
	dmsetup message cl 0 "nodes $*"
}

# refused ERROR WORDS: the message must be refused, with this line in the kernel log.
refused() {
	log_mark
	! dmsetup message cl 0 "$2" 2>/dev/null || fail "accepted: $2"
	log_since | grep -qF "$1" || fail "not '$1' in the log: $(log_since)"
	same "table line" "$(dmsetup table cl)" "$line"
}

# device NAME: print the number of the node's device.
device() {
	number "/dev/mapper/$1"
}

fresh_cluster 16 "2 stall_timeout 2000"
line=$(dmsetup table cl)
refused "'join': Expected: nodes" "join 1 me 1 -"
refused "'0': Number of nodes" "nodes 0"
refused "'2': Each node has" "nodes 2 me 1 -"
refused "'rest': Word behind" "nodes 1 me 1 - rest"
refused "'me': The local node's name is not" "nodes 1 one 1 /dev/mapper/one"
refused "'one': Two nodes" "nodes 3 me 1 - one 1 - one 2 -"
refused "'four': Device of a node" "nodes 2 me 1 - four 1 /dev/mapper/four"

right
begun=$(node begun 1)
((begun > 0)) || fail "nothing was read at the first peer"
nodes 3 me 10 - one 20 "$(device one)" three 10 - || fail "nodes"
# A node that stays keeps its counters; another weight, and a leave, show in the table line.
same "reads at the first peer" "$(node begun 1)" "$begun"
[[ $(dmsetup table cl) == *" me 3 me 10 - one 20 $(device one) three 10 - "* ]] || fail "line: $(dmsetup table cl)"
same "an absent node" "$(node state 2)" $ABSENT
right
# The extents of the absent node are read at the next homes, as if it were no node.
mapfile -t want < <(./cluster_homes $((16 * 2048 / EXTENT)) me:10 one:20)
before=$(node bytes 1)
right
same "bytes at the first peer" $(($(node bytes 1) - before)) $((want[1] * EXTENT * 512))
# The node that left closes its device.
closed() {
	[[ $(dmsetup info -c --noheadings -o open two) == 0 ]]
}
wait_for 20 closed || fail "the node that left keeps its device"
dm_remove two || fail "the device of a node that left is in use"
make_dm REPLY two "$(linear)"

# Everything at once, under readers.
stop=$TMPDIR/stop
at_exit touch "$stop"
./blockdata read /dev/mapper/cl -f "$stop" -t 4 -b 1:256 -a 1 >"$TMPDIR/log" &
reader=$!
for ((i = 0; i < $(times 20); i++)); do
	nodes 4 me 10 - one $((i + 1)) /dev/mapper/one two 10 /dev/mapper/two three 10 /dev/mapper/three || fail "all"
	right -r 20 -b 64
	nodes 1 me 10 - || fail "none"
	nodes 3 me 1 - two 10 - three 1000 /dev/mapper/three || fail "one"
done
touch "$stop"
wait $reader || fail "readers: $(tail -n 3 "$TMPDIR/log")"

# A node leaves while it hangs with reads.
nodes 2 me 1 - two 1000000 /dev/mapper/two || fail "two"
right
dmsetup suspend --noflush --nolockfs two || fail "suspend"
./blockdata read /dev/mapper/cl -n 4096 >"$TMPDIR/log" &
reader=$!
in_flight() {
	(($(node begun 1) > $(node ended 1)))
}
wait_for 20 in_flight || fail "no read hangs: $(dmsetup status cl)"
nodes 1 me 1 - || fail "a node that hangs cannot leave"
right
! closed || fail "the device was closed under a read"
dmsetup resume two || fail "resume"
wait $reader || fail "the reader that hung: $(tail -n 3 "$TMPDIR/log")"
wait_for 20 closed || fail "the node that left keeps its device"
