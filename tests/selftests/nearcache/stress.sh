#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Threads write and read everywhere, with a cache of 5 % of the volume, in both writing modes. No
# read may return wrong data. The bare origin, and the cache after a restart, must have the same
# data as the last reads.
# kernels: 6.12
# timeout: 300
. ./cache.sh

modes=(writearound writethrough)
declare -A origins caches pids

# set_up MODE: create /dev/mapper/MODE, and on top of it MODE-twin, for discards and zeroes. Slow
# devices with short queues keep requests in flight, so that they race.
set_up() {
	local origin cache
	make_null origin "origin-$1" 128 discard=1 completion_nsec=500000 \
		hw_queue_depth=2 cache_size=2
	make_null cache "cache-$1" 8 completion_nsec=100000
	origins[$1]=$origin caches[$1]=$cache
	./stress init "$origin" "$TMPDIR/$1" -S ${#1}
	format "$cache" "$origin"
	MODE=$1 start "$1" '' "$origin" "$cache"
	# Random reads leave no block idle, so a range with evict-after-use lets reclaim evict.
	./genl range-add name="$1" range=start=0,length=$((32 << 20)),label=passing,flags=4 >/dev/null || fail "range-add"
	echo "$1: $(($(field blocks "$1") / 16)) of 128 MiB are cached"
	make_dm _ "$1-twin" "0 $(sectors "$origin") linear /dev/mapper/$1 0"
}

# unused MODE: print the counters that are still 0.
unused() {
	local name names=(hits fills evictions invalidated_bytes writes flushes discards)
	[[ $1 == writearound ]] || names+=(updates update_bytes)
	for name in "${names[@]}"; do
		(($(field "$name" "$1"))) || echo "$name"
	done
	(($(field bypass_write "$1") + $(field fills_stale "$1"))) || echo "writes that overlap reads"
}

# enough SECONDS: SECONDS have passed and every operation happened, or a load has ended.
enough() {
	local mode
	for mode in "${modes[@]}"; do
		kill -0 "${pids[$mode]}" 2>/dev/null || return 0
	done
	((SECONDS >= began + $1)) || return 1
	for mode in "${modes[@]}"; do
		[[ ! $(unused "$mode") ]] || return 1
	done
}

# run SECONDS: run both loads for SECONDS, or longer until every operation has happened.
run() {
	local mode began=$SECONDS
	for mode in "${modes[@]}"; do
		./stress run "/dev/mapper/$mode" "$TMPDIR/$mode" -s 100000 -S "$RANDOM" -d \
			-z "/dev/mapper/$mode-twin" -f "$TMPDIR/stop" >"$TMPDIR/$mode-log" &
		pids[$mode]=$!
	done
	wait_for $(($1 + 150)) enough "$1" || echo "not every operation happened"
	touch "$TMPDIR/stop"
	for mode in "${modes[@]}"; do
		wait "${pids[$mode]}" || failed=1
		cat "$TMPDIR/$mode-log"
		dmsetup status "$mode"
	done
	[[ ! ${failed:-} ]] || fail "wrong sectors"
}

# tested MODE: fail unless every operation happened and none failed.
tested() {
	[[ ! $(unused "$1") ]] || fail "$1: did not happen: $(unused "$1" | paste -sd ' ')"
	is write_errors 0 "$1"
	is state 0 "$1"
}

# restart MODE: remove the cache and create it again.
restart() {
	dm_remove "$1-twin"
	stop "$1"
	./stress verify "${origins[$1]}" "$TMPDIR/$1" ||
		fail "$1: the origin differs from the data that was read"
	MODE=$1 start "$1" '' "${origins[$1]}" "${caches[$1]}"
	above blocks_warm 0 "$1"
	is slots_dropped 0 "$1"
	./stress verify "/dev/mapper/$1" "$TMPDIR/$1" || fail "$1: wrong after the restart"
	above hits 0 "$1"
}

for mode in "${modes[@]}"; do
	set_up "$mode"
done
run "$(times 8)"
for mode in "${modes[@]}"; do
	tested "$mode"
	restart "$mode"
done
