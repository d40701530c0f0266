#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A node leaves, and joins again under its name and address with another volume of the same size. A
# node that stays reads all the time: its kernel connects the other one again by itself, and must get
# no data of that volume.
# kernels: 6.12
# cpus: 1
. ./joining.sh

make_null O origin 16
make_null other other 16
./blockdata write "$O"
./blockdata write "$other" -g 7
conf a:4421 b:4422
node_cache a
node_cache b
joins a
joins b
joins a
await a b up
reader_begins a
good cluster leave b
await a b failed
good destroy b-home
make_null device cacheb2 24
good create b-home --origin "$other" --cache "$device" --block-size 64K --read-only
joins b
[[ $err == *"node 'a' at 127.0.0.1:4421 is refused"* ]] || fail "a is not refused: $err"
# The kernel of a is refused at its next attempt, and takes the device away.
refused() {
	joins a
	[[ $err == *"node 'b' at 127.0.0.1:4422 is refused"*"another volume"* ]]
}
wait_for 20 refused || fail "b is not refused: $err; $(nearcache cluster status a)"
same "state of b" "$(state a b)" absent
right a
reader_ends
good cluster leave a
good cluster leave b
alone
