#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache reads ahead by the readahead windows of a classifier: in time, no further than
# requested, and never with wrong data, whatever races with the readahead.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

NC=/dev/mapper/nc
MB=$((1 << 20))

# begin_count: remember the counters.
begin_count() {
	local name
	for name in misses prefetched_bytes prefetched_used_bytes prefetched_late_bytes; do
		look "was_$name" $name
	done
}

# delta COUNTER: the increase since begin_count.
delta() {
	local -n before=was_$1
	echo $(($(field "$1") - before))
}

# cached FIRST END: print the cached bytes of this part, given in MiB.
cached() {
	run residency nc "$(($1 * MB))-$(($2 * MB))" -j
	json cached_bytes
}

# empty: drop all data; the cache is larger than the origin, so nothing is evicted later.
empty() {
	dmsetup message nc 0 invalidate all || fail "invalidate"
}

# A sequential stream: most of the data must be cached or in flight before it is read.
stream() {
	empty
	begin_count
	good classifier load
	check -s 0 -n 32768 -b 64 >/dev/null
	settle
	# Few of the 512 reads may miss: the classifier recognises the stream after 15 reads.
	(($(delta misses) < 64)) || fail "misses: $(delta misses), of 512"
	(($(delta prefetched_bytes) >= 14 * MB)) || fail "brought: $(delta prefetched_bytes)"
	(($(delta prefetched_used_bytes) + $(delta prefetched_late_bytes) >= 14 * MB)) ||
		fail "used $(delta prefetched_used_bytes), late $(delta prefetched_late_bytes)"
	good classifier unload
}

# Shards of 4 MiB at a distance of 8 MiB: once their length is known, no gap may be read ahead.
shards() {
	empty
	begin_count
	good classifier load
	fio --name=shards --filename=$NC --direct=1 --ioengine=psync --thread --rw=read --bs=32k --size=48m --io_size=24m \
		--zonemode=strided --zonesize=4m --zonerange=8m --zoneskip=0 --output="$TMPDIR/fio" || fail "fio: $(<"$TMPDIR/fio")"
	settle
	same "cached of the last shard" "$(cached 40 44)" $((4 * MB))
	(($(cached 20 24) <= MB / 2 && $(cached 44 48) <= MB / 2)) ||
		fail "cached behind shards: $(cached 20 24), $(cached 44 48) bytes"
	(($(delta misses) < 128)) || fail "misses: $(delta misses), of 768"
	good classifier unload
}

brought_some() {
	(($(delta prefetched_bytes) >= MB))
}

# The first read of a block that a window brought counts as use.
used() {
	good close nc
	good create nc --origin "$O" --cache "$C" --block-size 64K --force
	begin_count
	good classifier load far.bpf.o
	dd if=$NC of=/dev/null bs=64K count=1 iflag=direct 2>/dev/null || fail "read"
	wait_for 30 brought_some || fail "no readahead"
	written_down
	begin_count
	dd if=$NC of=/dev/null bs=64K count=4 skip=1 iflag=direct 2>/dev/null || fail "read"
	same "bytes used of a window" "$(delta prefetched_used_bytes)" $((4 << 16))
	good classifier unload
}

wrote() {
	(($(field writes)))
}

# No readahead while a checkpoint is written. A window set by a user's classifier is clamped.
pauses() {
	local writer try brought=''
	good set nc mode=writethrough
	good classifier load far.bpf.o
	fio --name=checkpoint --filename=$NC --direct=1 --ioengine=psync --thread --rw=write --bs=256k --offset=60m --size=1m \
		--time_based --runtime=600 --output="$TMPDIR/fio" &
	writer=$!
	wait_for 30 wrote || fail "no writes"
	# Repeat: a writer that gets no processor for a while is not seen as a checkpoint.
	for try in 1 2 3; do
		empty
		begin_count
		check -s 0 -n 4096 -b 64 >/dev/null
		# Suspend, so that readahead in flight completes and counts.
		written_down
		brought+=" $(delta prefetched_bytes)"
		[[ $brought != *' 0' ]] || break
	done
	[[ $brought == *' 0' ]] || fail "readahead during a checkpoint, in $try attempts: $brought"
	kill $writer
	wait $writer || true
	./blockdata write $NC -s $((60 * 2048)) -n 2048
	reads() {
		check -s 8192 -n 64 -b 64 >/dev/null
		settle
		(($(delta prefetched_bytes)))
	}
	wait_for 30 reads || fail "no readahead after a checkpoint"
	good classifier unload
	good set nc mode=read-only
}

# Readers and writers race with windows everywhere, in a full cache, under reloads.
races() {
	local i
	good close nc
	good create nc --origin "$O" --cache "$S" --block-size 64K --mode writethrough
	good classifier load far.bpf.o
	./blockdata write $NC
	verify_begin -b 1:256 -a 1 -r 300 -t 2
	for ((i = 0; i < $(times 3); i++)); do
		dmsetup message nc 0 invalidate all || fail "invalidate"
		written_down
		./blockdata write $NC -s 4096 -n 2048 -b 64
	done
	verify_end >/dev/null
	check -b 128 >/dev/null
	good set nc mode=read-only
}

# Close the device with windows in flight.
removed() {
	local i
	for ((i = 0; i < $(times 2); i++)); do
		check -s $((i * 8192)) -n 512 -b 64 >/dev/null
		good close nc
		good open nc --origin "$O" --cache "$S"
	done
	check -b 128 >/dev/null
	is state 0
	good classifier unload
}

# A suspend while most of a window waits for memory: the rest must not be read, also not later.
suspended() {
	local i
	good close nc
	make_null L late 64 completion_nsec=200000000
	good create nc --origin "$L" --cache "$C" --block-size 64K --fill-memory 4M --force
	good classifier load far.bpf.o
	for ((i = 0; i < $(times 2); i++)); do
		empty
		begin_count
		dd if=$NC of=/dev/null bs=64K count=1 iflag=direct 2>/dev/null || fail "read"
		written_down
		(($(delta prefetched_bytes) < 32 * MB)) || fail "brought: $(delta prefetched_bytes)"
		same "fills of a window that is gone" "$(field fills_in_flight)" 0
	done
	dd if=$NC of=/dev/null bs=64K count=1 iflag=direct skip=1 2>/dev/null || fail "read"
	good close nc
	good classifier unload
}

# Errors of the readahead must cause no errors for readers.
errors() {
	local bad
	make_dm bad bad "0 65536 linear $O 0
65536 8192 error
73728 $(($(sectors "$O") - 73728)) linear $O 73728"
	at_exit dm_gone nc
	good create nc --origin "$bad" --cache "$C" --block-size 64K --force
	good classifier load far.bpf.o
	check -s $((65536 - 8192)) -n 8192 -b 64 >/dev/null
	settle
	is state 0
	above fills_failed_origin 0
	check -s 73728 -n 8192 -b 64 >/dev/null
	good classifier unload
}

make_null O origin 64 completion_nsec=2000000
make_null C local 80
make_null S small 24
at_exit dm_gone nc
at_exit run classifier unload
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K
stream
shards
used
pauses
races
removed
suspended
errors
