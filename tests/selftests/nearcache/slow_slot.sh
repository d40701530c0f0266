#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache device answers all requests except those to one of its 1,000 slots, on which a hit hangs:
# it must be degraded, whether other hits complete meanwhile or not.
# kernels: 6.12
# cpus: 1
. ./gate.sh

# place: set $place to the first sector of the slot of the block at $at, on the cache device.
place() {
	gate hold cache read
	gate read hit "$NC" "$at" 8
	gate held cache 1
	[[ $REPLY =~ read\ ([0-9]+)\+8$ ]] || fail "held:$REPLY"
	place=${BASH_REMATCH[1]}
	gate pass cache
	gate let cache all
	ends hit 1x8
}

# hangs: hold all reads of this slot until the state is degraded.
hangs() {
	gate hold cache read "$place" 128
	gate read hit "$NC" "$at" 8
	gate until nc state = 3
	now reason reason
	((reason == 5)) || fail "reason is $reason"
	gate busy hit
	gate pass cache
	gate let cache all
	ends hit 1x8
	gate until nc state = 0
}

gates 48 66
between read-only
for ((at = 0; at < gate_sectors; at += 2048)); do
	cached $at 2048
done
# A probe of each slot in turn would take half a minute to come to this one.
at=$((gate_sectors / 2))
place
reload '2 cache_timeout 300' || fail "reload"
hangs
verify_begin -n 4096 -b 8 -t 1
hangs
verify_end
