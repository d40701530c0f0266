# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Cost of a miss compared with the same read of the bare origin. Origin: 1 ms and 200 MB/s; cache
# device: 80 us and 2 GB/s. Each job reads a part of its own once, sequentially or in random order.
# The last reads, with fewer in flight, are not counted. Jobs limited by the origin's bandwidth run
# for more than a second, as null_blk applies its limit 50 times a second. There are two kinds of
# devices:
#   memory	hold their data in memory. The guest's only processor copies it at 1.1 GB/s, so
#		writes to the cache device compete with the readers
#   dma	transfer no data and take no processor time for it, as with DMA hardware. Only the metadata
#		is stored, so bcache and dm-writecache cannot be measured
#   rows: devices, target, pattern (random, sequential), block_size (bytes), iodepth,
#	bytes_per_second, throughput_ratio (to the bare origin), p50_nanoseconds, p99_nanoseconds,
#	p99_ratio, origin_bytes_ratio (bytes read from the origin until the devices are idle / bytes
#	read); instructions_per_byte (from another run on devices without delay, where all time is
#	instructions, including background work); for nearcache also cached_bytes_ratio (bytes
#	cached once the devices are idle / bytes read)
# memory: 4G
# shellcheck disable=SC2034,SC2054,SC2086,SC2154 # devices of the including script; braces; words; map names

targets=(origin dm-linear nearcache dm-cache dm-writecache bcache)
cells=({random,sequential},{4096,131072},{1,32})
declare -A seen dma at_once

# part_of CELL: set $part to the MiB that the job reads.
part_of() {
	part=64
	[[ $1 != *,131072,32 ]] || part=256
}

# sum_of CELL...: set $sum to the MiB of all these jobs.
sum_of() {
	local cell part
	sum=0
	for cell; do
		part_of "$cell"
		sum=$((sum + part))
	done
}

ORIGIN_IS="completion_nsec=1000000 mbps=200"
CACHE_IS="completion_nsec=80000 mbps=2000"

# cell TARGET CELL OFFSET RESULT: read from OFFSET MiB on; results go to RESULT[TARGET,CELL,...].
cell() {
	local -n to=$4
	local pattern size depth before filled now i lines part
	local -A times=()
	IFS=, read -r pattern size depth <<<"$2"
	part_of "$2"
	before=$(origin_reads "$O")
	[[ $1 != nearcache ]] || look filled fill_cache_bytes bench
	fio_run cell "$device" --rw="$([[ $pattern == random ]] && echo randread || echo read)" --bs="$size" \
		--iodepth="$depth" --offset="${3}m" --size=${part}m \
		--number_ios=$(((size == 4096 ? 1500 : depth == 1 ? 500 : 2000) + depth))
	# Drop the reads in flight at the end: fio reaps them together and reports wrong latencies.
	mapfile -t lines <"$TMPDIR/cell_lat.1.log"
	printf '%s\n' "${lines[@]::${#lines[@]}-depth}" >"$TMPDIR/cell_lat.1.log"
	quiet
	fio_times times cell
	for i in "${!times[@]}"; do
		to["$1,$2,$i"]=${times["$i"]}
	done
	to["$1,$2,origin"]=$(ratio $(($(origin_reads "$O") - before)) $(((times[count] + depth) * size)))
	[[ $1 == nearcache ]] || return 0
	look now fill_cache_bytes bench
	to["$1,$2,cached"]=$(ratio $((now - filled)) $(((times[count] + depth) * size)))
}

# measure RESULT CELL...: measure all targets, each with an empty cache.
measure() {
	local target i sum
	for target in "${targets[@]}"; do
		COLD=1 target_up "$target"
		quiet
		for ((i = 1; i < $#; i++)); do
			sum_of "${@:2:i-1}"
			cell "$target" "${*:i+1:1}" "$sum" "$1"
		done
		target_down "$target"
	done
}

# pair_dma: devices of $sum MiB that store no data except the first 16 MiB of the cache device.
pair_dma() {
	local table data
	make_null O origin "$sum" $ORIGIN_IS memory_backed=0
	make_null table table 16 $CACHE_IS
	make_null data data $((sum + 64)) $CACHE_IS memory_backed=0
	make_dm C local-dma "0 $(sectors "$table") linear $table 0
$(sectors "$table") $(sectors "$data") linear $data 0"
}

pair_dma_gone() {
	dm_remove local-dma
	null_del table
	null_del data
	null_del origin
	cleanups=()
}

bench() {
	local all=("${targets[@]}") few=({random,sequential},{4096,131072},32) sum
	sum_of "${cells[@]}"
	pair "$sum" $((sum + 64)) "$ORIGIN_IS" "$CACHE_IS"
	zero "$O" "$sum"
	zero "$C" $((sum + 64))
	measure seen "${cells[@]}"
	pair_gone
	if [[ ! $HOST ]]; then
		targets=(origin dm-linear nearcache dm-cache)
		pair_dma
		measure dma "${cells[@]}"
		pair_dma_gone
		targets=("${all[@]}")
		sum_of "${few[@]}"
		pair "$sum" $((sum + 64))
		zero "$O" "$sum"
		zero "$C" $((sum + 64))
		measure at_once "${few[@]}"
		pair_gone
	fi
	rows_of seen "$([[ $HOST ]] && echo real || echo memory)"
	[[ $HOST ]] || rows_of dma dma
}

# rows_of RESULT DEVICES: append a row per cell; DEVICES: memory or dma.
rows_of() {
	local target name pattern size depth more
	local -n of=$1
	for target in "${targets[@]}"; do
		for name in "${cells[@]}"; do
			[[ ${of[$target,$name,mean]:-} ]] || continue
			IFS=, read -r pattern size depth <<<"$name"
			more=()
			[[ $2 != memory ]] || more=(instructions_per_byte
				"$(ratio "${at_once[$target,${name%,*},32,mean]}" $((32 * size)))")
			[[ ! ${of[$target,$name,cached]:-} ]] || more+=(cached_bytes_ratio "${of[$target,$name,cached]}")
			row devices "$2" target "$target" pattern "$pattern" block_size "$size" iodepth "$depth" \
				bytes_per_second "$(ratio $((size * depth * 1000000000)) "${of[$target,$name,mean]}" 0)" \
				throughput_ratio "$(ratio "${of[origin,$name,mean]}" "${of[$target,$name,mean]}")" \
				p50_nanoseconds "${of[$target,$name,p50]}" p99_nanoseconds "${of[$target,$name,p99]}" \
				p99_ratio "$(ratio "${of[$target,$name,p99]}" "${of[origin,$name,p99]}")" \
				origin_bytes_ratio "${of[$target,$name,origin]}" "${more[@]}"
		done
	done
}
