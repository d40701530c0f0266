# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# How long hits take while the cache is busy: reads of 32 MiB that are cached, one at a time, for a
# second, while
#   filling	100 MB/s that are not cached are read and kept
#   evicting	the cache is full, 100 MB/s that are not cached are read, and what was cached before goes for
#		them (nearcache: both of a range that is evicted after its use)
#   committing	what is cached in reads of 4 KiB is written down 100 times a second (nearcache)
# Beside them the bare cache device: the same reads, and under them what nearcache wrote there, and read
# from the origin, in that time: in the same sizes and places, at the same times. (A reader of the bare
# origin gets what he asked for all at once when the device's limit of bandwidth lets it pass, and asks
# for more all at once: the hits beside him would be measured by his luck. Who reads 4 KiB is far below
# that limit, and is the same beside both: he spins between reads, which is nobody's fault here.)
#   rows: scenario, target, block_size (bytes), p50_nanoseconds, p99_nanoseconds, p999_nanoseconds,
#	max_nanoseconds, p999_ratio, max_ratio (to the bare device), cache_write_bytes_per_second,
#	cache_write_size (bytes)
# shellcheck disable=SC2154 # devices are set by who includes this

sizes=(4096 131072)
# MiB: where what is not cached begins, how much of it there is for each size, and the cache device.
COLD_AT=64
PART=144
CACHE_MB=384
TRACE=/sys/kernel/tracing
# How often a second of writes is replayed: longer than anybody measures.
ROUNDS=8
declare -A wrote size_of spans

# reader DEVICE PART [fio options]: the background; PART: the second half of it is for the second size.
reader() {
	background reader "$1" --rw=read --bs=128k --iodepth=8 --rate=100m --offset="$((COLD_AT + $2))m" --size=${PART}m "${@:3}"
}

# under SCENARIO TARGET SIZE: measures hits, into seen[SCENARIO,TARGET,SIZE,...].
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

# number_of DEVICE: as the kernel's traces have it.
number_of() {
	echo $((0x$(stat -c %t "$1") << 20 | 0x$(stat -c %T "$1")))
}

# record_begin: writes to the cache device and reads of the origin, by the kernel's own trace of them.
record_begin() {
	echo "(dev == $(number_of "$C") && rwbs ~ \"*W*\") || (dev == $(number_of "$O") && rwbs ~ \"*R*\")" \
		>"$TRACE/events/block/block_bio_queue/filter"
	echo 1 >"$TRACE/events/block/block_bio_queue/enable"
	echo >"$TRACE/trace"
}

# record_end FILE MICROSECONDS: what was read and written in that time, as rewrite takes it.
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

# replayed SCENARIO SIZE [R|W]: the bare devices, under what nearcache did to them; or only reads, or writes.
replayed() {
	local list=$TMPDIR/writes.$1.$2
	[[ -s $list ]] || fail "nearcache is to be measured before what is bare"
	grep " [${3:-RW}] " "$list" |
		"${BENCH_PROGRAMS:-$here/tools}/rewrite" "$O" "$C" "${spans[$list]}" $ROUNDS &
	background_pids+=($!)
}

# committer TARGET: what is cached is written down whenever something is invalidated, though it was not
# cached. Beside the bare device a program does as much, but for that.
committer() {
	local words=(message bench 0 invalidate $(((COLD_AT + 2 * PART) << 11)) 8)
	[[ $1 != raw ]] || words=(ls)
	while dmsetup "${words[@]}" >/dev/null; do
		nap 0.005
	done
}

# begin SCENARIO TARGET SIZE PART: the background of a scenario.
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
	wait_for 20 more_reads "$(origin_reads "$O")" || fail "nobody reads the origin"
}

more_reads() {
	(($(origin_reads "$O") > $1))
}

# full: of what is not cached before, and is not read later.
full() {
	dd if="$device" of=/dev/null bs=1M skip=$((COLD_AT + 2 * PART)) count=$((CACHE_MB - BENCH_MB)) iflag=direct 2>/dev/null ||
		fail "cannot read $device"
}

# scenario SCENARIO TARGET
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
