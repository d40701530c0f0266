# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Latency of hits while the cache is busy: reads of 32 MiB of cached data, one in flight, for a
# second, in three scenarios:
#   filling	a reader misses at 100 MB/s, and the cache keeps the data
#   evicting	the cache is full, and a reader misses at 100 MB/s and evicts the data cached before
#		(nearcache: both in a range with the flag evict-after-use)
#   committing	fills of 4 KiB are committed 100 times a second (nearcache)
# For comparison the bare cache device: the same reads, while a replay repeats nearcache's writes to
# it and nearcache's reads of the origin, with the same sizes, offsets and times. (A real reader of
# the bare origin is no substitute: the device's bandwidth limit completes its reads in bursts, so
# chance would decide which hits they delay. The reader of 4 KiB is far below this limit and runs
# beside both. It spins between reads, at the same cost for both.)
#   rows: scenario, target, block_size (bytes), p50_nanoseconds, p99_nanoseconds, p999_nanoseconds,
#	max_nanoseconds, p999_ratio, max_ratio (to the bare device), cache_write_bytes_per_second,
#	cache_write_size (bytes)
# shellcheck disable=SC2154 # the including script sets the devices

sizes=(4096 131072)
# In MiB: offset of the uncached data, its length for each read size, size of the cache device.
COLD_AT=64
PART=144
CACHE_MB=384
TRACE=/sys/kernel/tracing
# Repetitions of the recorded second; more than any measurement needs.
ROUNDS=8
declare -A wrote size_of spans

# reader DEVICE PART [fio options]: start the background reader PART MiB into the uncached data.
reader() {
	background reader "$1" --rw=read --bs=128k --iodepth=8 --rate=100m --offset="$((COLD_AT + $2))m" --size=${PART}m "${@:3}"
}

# under SCENARIO TARGET SIZE: measure hits; put the results into seen[SCENARIO,TARGET,SIZE,...].
under() {
	local key=$1,$2,$3 i begin bytes requests
	local -A times=()
	[[ $2 != nearcache ]] || record_begin
	begin=${EPOCHREALTIME/./}
	bytes=$(origin_writes "$C")
	requests=$(origin_write_ios "$C")
	fio_run hits "$device" --rw=randread --bs="$3" --iodepth=1 "--size=${BENCH_MB}m" --time_based --runtime=1
	begin=$((${EPOCHREALTIME/./} - begin))
	bytes=$(($(origin_writes "$C") - bytes))
	requests=$(($(origin_write_ios "$C") - requests))
	[[ $2 != nearcache ]] || record_end "$TMPDIR/writes.$1.$3" $begin
	fio_times times hits
	for i in "${!times[@]}"; do
		seen[$key,$i]=${times[$i]}
	done
	wrote[$key]=$((bytes * 1000000 / begin))
	size_of[$key]=$((requests ? (bytes / requests + 2048) / 4096 * 4096 : 0))
}

# number_of DEVICE: print its number as in the kernel's traces.
number_of() {
	echo $((0x$(stat -c %t "$1") << 20 | 0x$(stat -c %T "$1")))
}

# record_begin: trace writes to the cache device and reads of the origin.
record_begin() {
	echo "(dev == $(number_of "$C") && rwbs ~ \"*W*\") || (dev == $(number_of "$O") && rwbs ~ \"*R*\")" \
		>"$TRACE/events/block/block_bio_queue/filter"
	echo 1 >"$TRACE/events/block/block_bio_queue/enable"
	echo >"$TRACE/trace"
}

# record_end FILE MICROSECONDS: write the traced requests of this time in the format of rewrite.
record_end() {
	echo 0 >"$TRACE/events/block/block_bio_queue/enable"
	awk -v round="$2" '
		/ block_bio_queue: / {
			for (i = 1; $i != "block_bio_queue:"; i++) { }
			at = $(i - 1) * 1000000
			if (!n++) first = at
			if ($(i + 5) && at - first < round)
				printf "%.0f %s %.0f %d\n", at - first, $(i + 2) ~ /W/ ? "W" : "R", $(i + 3) * 512, $(i + 5) * 512
		}' "$TRACE/trace" >"$1"
	spans[$1]=$2
}

# replayed SCENARIO SIZE [R|W]: replay nearcache's requests (or only these) on the bare devices.
replayed() {
	local list=$TMPDIR/writes.$1.$2
	[[ -s $list ]] || fail "measure nearcache before the bare devices"
	grep " [${3:-RW}] " "$list" |
		"${BENCH_PROGRAMS:-$here/tools}/rewrite" "$O" "$C" "${spans[$list]}" $ROUNDS &
	background_pids+=($!)
}

# committer TARGET: force commits. An invalidation commits all earlier fills, even if its own range
# is not cached. For the bare device run an equal program without commits.
committer() {
	local words=(message bench 0 invalidate $(((COLD_AT + 2 * PART) << 11)) 8)
	[[ $1 != raw ]] || words=(ls)
	while dmsetup "${words[@]}" >/dev/null; do
		nap 0.005
	done
}

# begin SCENARIO TARGET SIZE PART: start the background load of a scenario.
begin() {
	local on=$device
	[[ $2 != raw ]] || on=$O
	case $1,$2 in
	committing,*)
		[[ $2 != raw ]] || replayed "$1" "$3" W
		background reader "$on" --rw=randread --bs=4k --iodepth=4 --rate=8m --offset="$((COLD_AT + $4))m" --size=${PART}m
		committer "$2" &
		background_pids+=($!)
		;;
	*,raw) replayed "$1" "$3" ;;
	*) reader "$on" "$4" ;;
	esac
	wait_for 20 more_reads "$(origin_reads "$O")" || fail "no reads of the origin"
}

more_reads() {
	(($(origin_reads "$O") > $1))
}

# full: fill the cache with data that was not cached and is not read later.
full() {
	dd if="$device" of=/dev/null bs=1M skip=$((COLD_AT + 2 * PART)) count=$((CACHE_MB - BENCH_MB)) iflag=direct 2>/dev/null ||
		fail "cannot read $device"
}

# scenario SCENARIO TARGET: measure all read sizes of a target in a scenario.
scenario() {
	local size part=0
	pair $((COLD_AT + 2 * PART + CACHE_MB)) $CACHE_MB "completion_nsec=1000000 mbps=200" "completion_nsec=80000 mbps=2000"
	zero "$C" $CACHE_MB
	target_up "$2"
	if [[ $1 == evicting && $2 == nearcache ]]; then
		# 4: evict after use.
		./genl range-add name=bench \
			"range=start=$((COLD_AT << 20)),length=$(((2 * PART + CACHE_MB) << 20)),label=once,flags=4" >/dev/null ||
			fail "no range"
	fi
	[[ $1 != evicting || $2 == raw ]] || full
	quiet
	for size in "${sizes[@]}"; do
		begin "$1" "$2" "$size" $part
		under "$1" "$2" "$size"
		background_end
		quiet
		part=$PART
	done
	target_down "$2"
	pair_gone
}

bench() {
	local name size key raw
	local -A seen=()
	for name in filling,{nearcache,raw,dm-cache,bcache} evicting,{nearcache,raw,dm-cache,bcache} committing,{nearcache,raw}; do
		scenario "${name%,*}" "${name#*,}"
	done
	for name in filling,{raw,nearcache,dm-cache,bcache} evicting,{raw,nearcache,dm-cache,bcache} committing,{raw,nearcache}; do
		for size in "${sizes[@]}"; do
			key=$name,$size raw=${name%,*},raw,$size
			row scenario "${name%,*}" target "${name#*,}" block_size "$size" \
				p50_nanoseconds "${seen[$key,p50]}" p99_nanoseconds "${seen[$key,p99]}" \
				p999_nanoseconds "${seen[$key,p999]}" max_nanoseconds "${seen[$key,max]}" \
				p999_ratio "$(ratio "${seen[$key,p999]}" "${seen[$raw,p999]}")" \
				max_ratio "$(ratio "${seen[$key,max]}" "${seen[$raw,max]}")" \
				cache_write_bytes_per_second "${wrote[$key]}" cache_write_size "${size_of[$key]}"
		done
	done
}
