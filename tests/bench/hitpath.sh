# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Cost of a hit: reads of cached data on devices without delay. On the guest's only processor each
# instruction takes 1 ns and nothing else takes time, so the time of a read beyond that of the bare
# device is the number of instructions that the target adds.
#   rows: target, pattern (random, sequential), block_size (bytes), iodepth, iops,
#	added_instructions (per read), on real devices added_nanoseconds
# shellcheck disable=SC2154 # the including script sets the devices

targets=(raw dm-linear nearcache nearcache-100k-ranges nearcache-crc32c nearcache-planned
	nearcache-dm-stripe nearcache-cluster-here nearcache-cluster-peer dm-switch-multipath dm-writecache bcache dm-cache)
sizes=(4096 65536 262144)
declare -A ns

# jobs: print the fio job file: all jobs of a target in sequence.
jobs() {
	local size pattern depth
	echo "[global]
filename=$device
direct=1
ioengine=libaio
thread
size=${BENCH_MB}m
io_size=1g
randseed=1"
	for size in "${sizes[@]}"; do
		for pattern in random sequential; do
			for depth in 1 16; do
				echo "[$pattern,$size,$depth]
stonewall
rw=$([[ $pattern == random ]] && echo randread || echo read)
bs=$size
iodepth=$depth
number_ios=$((size > 65536 ? 300 : size > 4096 ? 600 : 2000))"
			done
		done
	done
}

# measured TARGET: run the jobs; put the nanoseconds of a read into ns[TARGET,PATTERN,SIZE,DEPTH].
measured() {
	local fields depth
	jobs >"$TMPDIR/jobs"
	fio "$TMPDIR/jobs" --output-format=terse --terse-version=3 >"$TMPDIR/fio" || fail "fio: $(<"$TMPDIR/fio")"
	while IFS=';' read -ra fields; do
		depth=${fields[2]##*,}
		# Field 39: mean total latency in microseconds; the reads in flight share this time.
		ns[$1,${fields[2]}]=$(awk -v us="${fields[39]}" -v depth="$depth" 'BEGIN { printf "%.1f", us * 1000 / depth }')
	done < <(grep '^3;' "$TMPDIR/fio")
}

bench() {
	local target cell pattern size depth added=added_instructions

	[[ ! $HOST ]] || added=added_nanoseconds
	for target in "${targets[@]}"; do
		pair 64 512
		target_up "$target"
		measured "$target"
		target_down "$target"
		pair_gone
	done
	for target in "${targets[@]}"; do
		for cell in {random,sequential},{4096,65536,262144},{1,16}; do
			IFS=, read -r pattern size depth <<<"$cell"
			row target "$target" pattern "$pattern" block_size "$size" iodepth "$depth" \
				iops "$(awk -v ns="${ns[$target,$cell]}" 'BEGIN { printf "%.1f", 1e9 / ns }')" \
				$added "$(awk -v ns="${ns[$target,$cell]}" -v raw="${ns[raw,$cell]}" 'BEGIN { printf "%.0f", ns - raw }')"
		done
	done
}
