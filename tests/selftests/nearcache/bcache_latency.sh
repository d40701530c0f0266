#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bcache lets readers wait, for up to seconds, until buckets are allocated and garbage is
# collected. In nearcache, hits and misses from all threads must be served while a reclaim and
# its commit are blocked: no reader waits for a slot, a commit or the writes of a fill.
# (The benchmarks measure the latency of hits during a reclaim.)
# kernels: 6.1
. ./gate.sh

# served: cached blocks are hits; all other reads come from the origin.
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
# The policy of such a small cache would evict blocks that are not read all the time: pin them.
at_exit rm -f /var/lib/nearcache/pins/nc.json
nearcache pin nc 256K-768K --no-load >/dev/null || fail "pin"
data=$(($(./sbset "$C" get data_offset) / 512))
# Empty four slots while a reader wants one: reclaim's commit waits for that of the invalidation.
gate hold cache write 0 "$data"
dmsetup message nc 0 invalidate 0 512 &
message=$!
gate held cache 1
gate get "$NC" "$spare" 512
now used blocks_used
served
# The commit is still blocked: no slot was given away meanwhile.
is blocks_used "$used"
gate held cache 1
gate pass cache
# Now the writes of fills are blocked; the readers that caused the fills are not.
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
