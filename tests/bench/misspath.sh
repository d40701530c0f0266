# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What a read of what is not cached costs, beside the same read of the bare origin: an origin that
# answers in 1 ms and brings 200 MB/s, a cache device with 80 us and 2 GB/s. Each job reads a part of its
# own, once; a random one in random order. The last reads, which are fewer at once, do not count. What is as fast as the
# origin's bandwidth reads for more than a second, as null_blk applies its limit 50 times in one. Devices are of two kinds:
#   memory	hold data in each of their pages, which the guest's only processor copies to and fro, at
#		1.1 GB/s: what a cache device is written competes with who reads
#   dma	take and bring no data, and no time of the processor for it, as hardware does; but for
#		metadata, so bcache and dm-writecache cannot be measured on them
#   rows: devices, target, pattern (random, sequential), block_size (bytes), iodepth, bytes_per_second,
#	throughput_ratio (to the bare origin), p50_nanoseconds, p99_nanoseconds, p99_ratio,
#	origin_bytes_ratio (bytes that the origin was asked for, until all is quiet again, by bytes that
#	were read), and, of another run on devices that answer at once, instructions_per_byte:
#	all time that passes is instructions then, of all that goes on meanwhile; of nearcache also
#	cached_bytes_ratio: what of the bytes that were read is cached once all is quiet
# memory: 4G
# shellcheck disable=SC2034,SC2054,SC2086,SC2154 # devices are set by who includes this; braces, words, and names of maps

targets=(origin dm-linear nearcache dm-cache dm-writecache bcache)
cells=({random,sequential},{4096,131072},{1,32})
declare -A seen dma at_once

# part_of CELL: MiB that a job has for itself; sets $part.
part_of() {
	part=64
	[[ $1 != *,131072,32 ]] || part=256
}

# sum_of CELL...: of all of them; sets $sum.
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

# cell TARGET CELL OFFSET RESULT: reads a part, from so many MiB on, and puts what is seen into RESULT[TARGET,CELL,...].
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
	# What is under way at the end fio takes when the last of it is over, all at once.
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

# measure RESULT CELL...: of all targets, each on an empty cache.
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

# pair_dma: of $sum MiB, without data, but for the first 16 MiB of the cache device.
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

# rows_of RESULT DEVICES
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
