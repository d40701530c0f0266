#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cluster device reads each extent at its home, refuses writes, prints the table line that it was
# given, and refuses lines that are wrong, by name.
# kernels: 6.1
# cpus: 1
. ./cluster.sh

# refused ERROR LINE: the table line must be refused with this line in the kernel log.
refused() {
	log_mark
	! dm_create bad "$2" >/dev/null 2>&1 || fail "accepted: $2"
	log_since | grep -qF "$1" || fail "not '$1' in the log: $(log_since)"
	! dmsetup info bad >/dev/null 2>&1 || dmsetup remove --noudevsync bad
}

fresh_cluster 16 "2 stall_timeout 30000"
right
mapfile -t want < <(./cluster_homes $((16 * 2048 / EXTENT)) me:10 one:10 two:10 three:10)
for i in 0 1 2 3; do
	same "bytes of node $i" "$(node bytes "$i")" $((want[i] * EXTENT * 512))
	((want[i] > 16)) || fail "node $i is the home of only ${want[i]} extents"
done
same states "$(for i in 0 1 2 3; do node state $i; done)" "$HERE"$'\n'"$UP"$'\n'"$UP"$'\n'"$UP"
# Reads across extents, of all sizes, and those that must not wait.
right -b 1:512 -a 1 -r 200 -t 4
right -w -b 8
! dd if=/dev/zero of=/dev/mapper/cl bs=4k count=1 oflag=direct 2>/dev/null || fail "a write was accepted"
! blkdiscard /dev/mapper/cl 2>/dev/null || fail "a discard was accepted"
same "read-only" "$(blockdev --getro /dev/mapper/cl)" 1
line=$(dmsetup table cl)
dmsetup load cl --table "$line" && dmsetup resume cl || fail "the printed line is refused: $line"
same "table line" "$(dmsetup table cl)" "$line"
right

good="me 10 - one 10 /dev/mapper/one"
refused "'you': The local node's name is not" "$(cluster_line "$good" | sed 's/ me 2/ you 2/')"
refused "'one': The local node's device" "$(cluster_line "$good" | sed 's/ me 2/ one 2/')"
refused "'one': Two nodes have" "$(cluster_line "$good one 1 -")"
refused "'a/b': Name of a node" "$(cluster_line "$good a/b 1 -")"
refused "'two': Weight of a node" "$(cluster_line "$good two 0 -")"
refused "'two': Device of a node" "$(cluster_line "$good two 1 /dev/nowhere")"
refused "'63': Extent must be" "$(EXTENT=63 cluster_line "$good")"
refused "'9': Replicas must be" "$(REPLICAS=9 cluster_line "$good")"
refused "'3': Each node has" "$(cluster_line "$good" | sed 's/ me 2 / me 3 /')"
refused "'5': stall_timeout must" "$(cluster_line "$good" "2 stall_timeout 5")"
refused "'speed': Unknown option" "$(cluster_line "$good" "2 speed 5")"
refused "'3': Number of option words" "$(cluster_line "$good" "3 stall_timeout 500 x")"
# A peer of another size serves another volume.
make_null other other 8
refused "it is another volume" "$(cluster_line "$good two 1 $other")"
# With as many replicas as nodes everything is read here.
dmsetup load cl --table "$(REPLICAS=4 cluster_line)" && dmsetup resume cl || fail "replicas"
right
same "bytes here" "$(node bytes 0)" $((16 << 20))
