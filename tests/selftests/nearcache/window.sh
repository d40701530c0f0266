#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a classifier wants ahead of a stream is brought: in time, no further than it says, and never
# wrong, whatever races with it.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

NC=/dev/mapper/nc
MB=$((1 << 20))

# begin_count: what the counters are now.
begin_count() {
	local name
	for name in misses prefetched_bytes prefetched_used_bytes prefetched_late_bytes; do
		look "was_$name" $name
	done
}

# delta COUNTER: since begin_count.
delta() {
	local -n before=was_$1
	echo $(($(field "$1") - before))
}

# cached FIRST END: bytes of this part, in MiB, that are cached.
cached() {
	run residency nc "$(($1 * MB))-$(($2 * MB))" -j
	json cached_bytes
}

# There is room for all of the origin.
empty() {
	dmsetup message nc 0 invalidate all || fail "invalidate"
}

# Of a stream most is there, or on its way, before it is asked for.
stream() {
	empty
	begin_count
	good classifier load
	check -s 0 -n 32768 -b 64 >/dev/null
	settle
	# Of 512 reads 15 until it is known.
	(($(delta misses) < 64)) || fail "misses: $(delta misses), of 512"
	(($(delta prefetched_bytes) >= 14 * MB)) || fail "brought: $(delta prefetched_bytes)"
	(($(delta prefetched_used_bytes) + $(delta prefetched_late_bytes) >= 14 * MB)) ||
		fail "used $(delta prefetched_used_bytes), late $(delta prefetched_late_bytes)"
	good classifier unload
}

# Of shards of 4 MiB, 8 MiB from each other: nothing of what is between them, once their length
# is known.
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

wrote() {
	(($(field writes)))
}

# While a checkpoint is written, nothing; a window of one's own is cut to what there is.
pauses() {
	local writer try brought=''
	good set nc mode=writethrough
	good classifier load far.bpf.o
	fio --name=checkpoint --filename=$NC --direct=1 --ioengine=psync --thread --rw=write --bs=256k --offset=60m --size=1m \
		--time_based --runtime=600 --output="$TMPDIR/fio" &
	writer=$!
	wait_for 30 wrote || fail "no writes"
	# A writer that gets no processor for a while writes no checkpoint.
	for try in 1 2 3; do
		empty
		begin_count
		check -s 0 -n 4096 -b 64 >/dev/null
		# What is written is on its way at any time.
		written_down
		brought+=" $(delta prefetched_bytes)"
		[[ $brought != *' 0' ]] || break
	done
	[[ $brought == *' 0' ]] || fail "brought beside a checkpoint, in $try attempts: $brought"
	kill $writer
	wait $writer || true
	./blockdata write $NC -s $((60 * 2048)) -n 2048
	reads() {
		check -s 8192 -n 64 -b 64 >/dev/null
		settle
		(($(delta prefetched_bytes)))
	}
	wait_for 30 reads || fail "nothing is brought behind a checkpoint"
	good classifier unload
	good set nc mode=read-only
}

# Readers and writers, windows everywhere, a full cache, and the table comes and goes.
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

# Gone with windows on their way.
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

# The table goes while most of a window waits for memory: that is not brought any more, nor later.
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

# What cannot be read ahead harms nobody.
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
pauses
races
removed
suspended
errors
