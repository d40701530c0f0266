#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes on failing devices. A write that the origin fails must get the error, and its sectors must
# then be read from the origin. Errors of the cache device must reach no user; after a bypass, the
# next start must be cold. If it cannot record a write session, writes must be refused.
# kernels: 6.12
# cpus: 1
. ./gate.sh

# medium_is STATE: fail unless the superblock has this state (enum nearcache_super_state).
medium_is() {
	local state
	state=$(./sbset "$C" get state)
	same "state on the medium" "$state" "$1"
}

# The origin fails one part of a write over three blocks, after it has changed some sectors.
origin_fails() {
	local errors valid
	next_block
	cached "$at" 384
	now errors write_errors
	now valid bytes_valid
	gate fail origin write $((at + 130)) 4
	gate fill origin 7 $((at + 128)) 3
	gate put "$NC" 2 $((at + 100)) 200
	expect EIO
	gate pass origin
	gate value nc write_errors
	((REPLY > errors)) || fail "no write error was counted"
	gate until nc fills_in_flight = 0
	# In the block whose write failed, no written sub-block may be valid.
	gate value nc bytes_valid
	((REPLY <= valid - 65536)) || fail "$REPLY of $valid bytes are still valid"
	gate agree nc origin "$at" 384
	[[ $REPLY == '1x'*' 7x3 1x'* ]] || fail "unexpected data: $REPLY"
	# The origin works again: writes must be cached again.
	puts 3 $((at + 100)) 200
	agrees "$at" 384 '1x100 3x200 1x84'
	at=$((at + 384))
}

# Two writes are in flight, and the origin fails one: only this one gets the error.
one_fails() {
	next_block
	cached "$at" 128
	gate hold origin write
	gate write one "$NC" 2 "$at" 16
	gate held origin 1
	gate write two "$NC" 3 $((at + 8)) 16
	gate held origin 2
	gate pass origin
	gate let origin last fail
	ends two EIO
	gate busy one
	gate let origin all
	ends one 'done'
	agrees "$at" 128 '2x16 1x112'
}

# The cache device fails the write of an update: the writer must get no error.
update_fails() {
	local skipped failed updates
	next_block
	cached "$at" 128
	now skipped updates_skipped
	now failed fills_failed_cache
	now updates updates
	gate fail cache write "$data" $((1 << 20))
	puts 2 "$at" 64
	gate until nc fills_in_flight = 0
	gate pass cache
	if [[ $MODE == writethrough ]]; then
		more updates_skipped "$skipped"
		more fills_failed_cache "$failed"
	fi
	more updates "$updates" 0
	is state 0
	agrees "$at" 128 '2x64 1x64'
}

# bypass REQUESTS...: the cache device fails these requests until it is bypassed.
bypass() {
	local i
	next_block
	cached "$at" 128
	gate fail cache "$@"
	for ((i = 0; i < 40; i++)); do
		puts $((i + 10)) $((at + i)) 2
		gate get "$NC" "$at" 128
		gate until nc fills_in_flight = 0
		gate value nc state
		((!REPLY)) || break
	done
	is state 1
}

# The cache device fails reads of data only, so that the stop could mark it clean. It must not: the
# cached data lacks what was written during the bypass.
lacks_writes() {
	bypass read "$data" $((1 << 20))
	gate pass cache
	puts 2 "$at" 128
	stop
	medium_is 1
	start
	is loaded 3
	agrees "$at" 128 2x128
}

# The cache device fails every request: the cache must be bypassed, without an error for writers.
# When the device works again, with its old content, the next start must be cold.
given_up() {
	local hits
	bypass any
	puts 2 "$at" 128
	now hits hits
	agrees "$at" 128 2x128
	puts 3 $((at + 5)) 3
	agrees "$at" 128 '2x5 3x3 2x120'
	more hits "$hits" 0
	# A reload in another mode stays in bypass.
	MODE=read-only reload || fail "reload to read-only"
	is state 1
	reload || fail "reload to $MODE"
	is state 1
	puts 4 $((at + 5)) 1
	stop
	gate pass cache
	medium_is 1
	start
	is loaded 3
	is blocks_used 0
	agrees "$at" 128 '2x5 4x1 3x2 2x120'
	cached 0 1024
	stop
	medium_is 0
	start
	is loaded 2
	agrees 0 1024 "$(gate look origin 0 1024; echo "$REPLY")"
}

# no_record SECTOR...: no write session may begin while these superblock copies fail writes.
no_record() {
	local sector
	stop
	medium_is 0
	gate look origin 0 128
	local content=$REPLY
	for sector; do
		gate fail cache write "$sector" 8
	done
	! dm_create nc "$(line)" >/dev/null 2>&1 || fail "$MODE started without a record of it"
	gone || dm_remove nc
	# The same by a reload of a read-only device, which itself starts in bypass.
	dm_create nc "$(MODE=read-only line)" >/dev/null ||
		fail "read-only mode was refused"
	is state 1
	agrees 0 128 "$content"
	! dmsetup message nc 0 invalidate all 2>/dev/null || fail "invalidated without a record of it"
	! reload 2>/dev/null || fail "reload to $MODE without a record of it"
	dmsetup load nc --table "$(MODE=read-only line)" && dmsetup resume nc ||
		fail "the device does not resume in read-only mode"
	agrees 0 128 "$content"
	gate put "$NC" 9 0 8
	[[ $REPLY == E* ]] || fail "written: $REPLY"
	stop
	gate pass cache
	start
	is state 0
	agrees 0 128 "$content"
}

gone() {
	! dmsetup info nc >/dev/null 2>&1
}

# After a power cut in a write session the start must be cold.
unclean() {
	next_block
	cached "$at" 128
	puts 2 "$at" 100
	gate until nc fills_in_flight = 0
	dd if="$C" of="$X" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
	stop
	dm_create nc "$(MODE=$1 line '' "$O" "$X")" >/dev/null || fail "start after the crash"
	is loaded 3
	is blocks_used 0
	agrees "$at" 128 '2x100 1x28'
	stop
	start
}

gates 8 4
make_null X crashed 4
for mode in writearound writethrough; do
	between "$mode"
	data=$(($(./sbset "$C" get data_offset) / 512))
	for ((round = 0; round < $(times 1); round++)); do
		origin_fails
		one_fails
		update_fails
		given_up
		lacks_writes
		if [[ $mode == writearound ]]; then
			unclean writearound
			no_record 8 1024
		else
			unclean read-only
			no_record 8
			no_record 1024
		fi
	done
done
