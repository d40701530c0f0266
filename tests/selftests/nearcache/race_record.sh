#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Slots are invalidated while the slot table on the medium still names their blocks. Other blocks
# may get the slots only after a commit, or after the superblock has the state "active".
# kernels: 6.12
# expect-log: nearcache: .*(origin .* cannot be flushed|the superblock cannot be written)
. ./gate.sh

# full: start a cache with no free slot, whose blocks are all in the slot table on the medium.
full() {
	gate_live=''
	between read-only
	fill_slots
	dmsetup message nc 0 invalidate "$spare" 8 || fail "invalidate"
	now misses misses
}

wanted() {
	gate get "$NC" "$spare" 384
	expect 1x384
}

# given RUNS: fail unless the blocks that want a slot get one, and blocks 0 and 1 read as RUNS.
given() {
	local i
	now misses misses
	for ((i = 0; i < 100; i++)); do
		wanted
		gate value nc misses
		((REPLY == misses)) || break
	done
	((i < 100)) || fail "no slot (line ${BASH_LINENO[0]})"
	agrees 0 256 "$1"
	agrees "$spare" 384 1x384
}

# told: change block 0 and invalidate blocks 0 and 1, with metadata writes held at the cache device.
told() {
	gate fill origin 2 0 128
	gate hold cache write 0 "$data"
	dmsetup message nc 0 invalidate 0 256 &
	message=$!
	gate held cache 1
}

# through: release the held writes and wait for the end of the message.
through() {
	gate pass cache
	gate let cache all
	wait $message || fail "invalidate"
}

medium() {
	same "state on the medium" "$(./sbset "$C" get state)" "$1"
}

gates 8 3 flush fua
# No volatile cache: with one, the kernel delays flushes while a write with FUA is in flight.
echo "write through" >"$(sys_block "$C")/queue/write_cache" || fail "write_cache"
format
data=$(($(./sbset "$C" get data_offset) / 512))

# A commit records the invalidation: reclaim must not hand out the slots before this commit.
full
told
for i in {1..10}; do
	wanted
done
more misses "$misses" 0
through
medium 2
given '2x128 1x128'
stop

# The flush of the origin fails, so no commit: reclaim must wait until the state is "active".
full
gate fail origin flush
told
wanted
gate held cache 2
wanted
more misses "$misses" 0
through
medium 1
is state 0
given '2x128 1x128'
gate pass origin
stop

# The superblock cannot be written either: the cache is bypassed and no slot is used again.
full
gate fail origin flush
gate fail cache write 0 "$data"
gate fill origin 2 0 128
! dmsetup message nc 0 invalidate 0 256 2>/dev/null || fail "invalidated without a record of it"
is state 1
medium 2
wanted
gets 0 256 '2x128 1x128'
