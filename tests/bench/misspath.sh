# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What a read of what is not cached costs, beside the same read of the bare origin: an origin that
# answers in 1 ms and brings 200 MB/s, a cache device with 80 us and 2 GB/s, which hold data in each of
# their pages. Each job reads a part of its own, once; a random one in random order.
#   rows: target, pattern (random, sequential), block_size (bytes), iodepth, bytes_per_second,
#	throughput_ratio (to the bare origin), p50_nanoseconds, p99_nanoseconds, p99_ratio,
#	origin_bytes_ratio (bytes that the origin was asked for, until all is quiet again, by bytes that
#	were read), and, of another run on devices that answer at once, instructions_per_byte:
#	all time that passes is instructions then, of all that goes on meanwhile
# memory: 3G
# shellcheck disable=SC2154 # devices are set by who includes this

targets=(origin dm-linear nearcache dm-cache dm-writecache bcache)
cells=({random,sequential},{4096,131072},{1,32})
declare -A seen at_once

# MiB that a job has for itself; two of them for each pattern and size.
PART=64

# cell TARGET CELL PART RESULT: reads a part, and puts what is seen into RESULT[TARGET,CELL,...].
cell() {
	local -n to=$4
	local pattern size depth before i
	local -A times=()
	IFS=, read -r pattern size depth <<<"$2"
	before=$(origin_reads "$O")
	fio_run cell "$device" --rw="$([[ $pattern == random ]] && echo randread || echo read)" --bs="$size" \
		--iodepth="$depth" --offset=$(($3 * PART))m --size=${PART}m --number_ios=$((size > 4096 ? 500 : 1500))
	quiet
	fio_times times cell
	for i in "${!times[@]}"; do
		to[$1,$2,$i]=${times[$i]}
	done
	to[$1,$2,origin]=$(ratio $(($(origin_reads "$O") - before)) $((times[count] * size)))
}

# measure RESULT CELL...: of all targets, each on an empty cache.
measure() {
	local target i
	for target in "${targets[@]}"; do
		COLD=1 target_up "$target"
		quiet
		for ((i = 1; i < $#; i++)); do
			cell "$target" "${*:i+1:1}" $((i - 1)) "$1"
		done
		target_down "$target"
	done
}

bench() {
	local target name pattern size depth
	pair $((8 * PART)) $((9 * PART)) "completion_nsec=1000000 mbps=200" "completion_nsec=80000 mbps=2000"
	zero "$O" $((8 * PART))
	zero "$C" $((9 * PART))
	measure seen "${cells[@]}"
	pair_gone
	if [[ ! $HOST ]]; then
		pair $((4 * PART)) $((5 * PART))
		zero "$O" $((4 * PART))
		zero "$C" $((5 * PART))
		measure at_once {random,sequential},{4096,131072},32
		pair_gone
	fi
	for target in "${targets[@]}"; do
		for name in "${cells[@]}"; do
			IFS=, read -r pattern size depth <<<"$name"
			misspath_row
		done
	done
}

# misspath_row: of $target and the cell $name.
misspath_row() {
	local more=()
	[[ $HOST ]] || more=(instructions_per_byte
		"$(ratio "${at_once[$target,${name%,*},32,mean]}" $((32 * size)))")
	row target "$target" pattern "$pattern" block_size "$size" iodepth "$depth" \
		bytes_per_second "$(ratio $((size * depth * 1000000000)) "${seen[$target,$name,mean]}" 0)" \
		throughput_ratio "$(ratio "${seen[origin,$name,mean]}" "${seen[$target,$name,mean]}")" \
		p50_nanoseconds "${seen[$target,$name,p50]}" p99_nanoseconds "${seen[$target,$name,p99]}" \
		p99_ratio "$(ratio "${seen[$target,$name,p99]}" "${seen[origin,$name,p99]}")" \
		origin_bytes_ratio "${seen[$target,$name,origin]}" "${more[@]}"
}
