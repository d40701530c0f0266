#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bcache lets readers wait, for up to seconds, until buckets are allocated and garbage is
# collected. In nearcache, hits and misses from all threads must be served while a reclaim and
# its commit are blocked: no reader waits for a slot, a commit or the writes of a fill.
# (The benchmarks measure the latency of hits during a reclaim.)
# kernels: 6.1
. ./gate.sh

# served: reads of cached blocks hit, and all other reads are answered by the origin.
served() {
	local hits=0 i
	now hits hits
	gate get "$NC" 512 1024
	expect 1x1024
	more hits "$hits" 8
	for i in {0..7}; do
		gate read "hit$i" "$NC" $((512 + i * 128)) 128
		gate read "miss$i" "$NC" $((spare + i * 8)) 8
	done
	for i in {0..7}; do
		ends "hit$i" 1x128
		ends "miss$i" 1x8
	done
	more hits "$hits" 16
}

gates 8 3
between read-only
fill_slots
# Pin the blocks that must hit: the policy of such a small cache would evict them.
at_exit rm -f /var/lib/nearcache/pins/nc.json
nearcache pin nc 256K-768K --no-load >/dev/null || fail "pin"
data=$(($(./sbset "$C" get data_offset) / 512))
# Invalidate four blocks while a reader wants a slot: reclaim's commit waits for the held commit.
gate hold cache write 0 "$data"
dmsetup message nc 0 invalidate 0 512 &
message=$!
gate held cache 1
gate get "$NC" "$spare" 512
now used blocks_used
served
# The commit is still blocked, so no block may have got a freed slot.
is blocks_used "$used"
gate held cache 1
gate pass cache
# Now the gate holds the writes of fills: the readers that caused the fills must not wait.
gate hold cache write "$data" $((1 << 20))
gate let cache all
wait $message || fail "invalidate"
gate until nc blocks_used '<' "$used"
gate get "$NC" "$spare" 512
expect 1x512
gate value nc fills_in_flight
((REPLY)) || fail "no slot was assigned"
served
gate pass cache
gate let cache all
gate until nc fills_in_flight = 0
agrees 0 8192 1x8192
is state 0
