# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Write a checkpoint while a cached dataset is read in random order: 96 MiB in writes of 1 MiB, four
# in flight, beside reads of 128 KiB at 150 MB/s. Origin: 1 ms and 200 MB/s; cache device: 80 us and
# 2 GB/s. Target "bare" writes to the origin and reads from the cache device.
#   rows: target, write_nanoseconds, write_ratio (to the bare origin), read_mean_nanoseconds and
#	read_p99_nanoseconds (before the write), read_mean_ratio and read_p99_ratio (reads during
#	the write to reads before), dataset_bytes, dataset_bytes_lost (bytes that a later pass reads
#	from the origin)
# memory: 3G
# shellcheck disable=SC2154 # the including script sets the devices

targets=(bare nearcache-writearound nearcache-writethrough dm-cache bcache-writethrough bcache-writearound)
BENCH_MB=48
# Offset and size of the checkpoint, MiB.
AT=128
LENGTH=96

# up TARGET: set up the target with the whole dataset cached; writes go to $to.
up() {
	case $1 in
	bare) target_up raw; to=$O; return ;;
	nearcache-*) MODE=${1#*-} target_up nearcache ;;
	bcache-*) target_up bcache; echo "${1#*-}" >/sys/block/bcache0/bcache/cache_mode ;;
	*) target_up "$1" ;;
	esac
	to=$device
}

down() {
	[[ $1 == bare ]] || target_down "${1%%-write*}"
}

# fio options of the reads of the dataset.
readers=(--rw=randread --bs=128k --iodepth=4 --rate=150m "--size=${BENCH_MB}m")

checkpoint() {
	local before lost=0
	local -A write=() alone=() beside=()
	pair 256 512 "completion_nsec=1000000 mbps=200" "completion_nsec=80000 mbps=2000"
	zero "$C" 512
	zero "$O" 256
	up "$1"
	quiet
	fio_run alone "$device" "${readers[@]}" --time_based --runtime=1
	background beside "$device" "${readers[@]}" "${FIO_LOGS[@]}" --write_lat_log="$TMPDIR/beside"
	nap 0.3
	fio_run write "$to" --rw=write --bs=1m --iodepth=4 --offset=${AT}m --size=${LENGTH}m
	background_end
	quiet
	fio_times write write 1
	fio_times alone alone
	fio_times beside beside 0 "${write[from]}" "${write[to]}"
	before=$(origin_reads "$O")
	[[ $1 == bare ]] || dd if="$device" of=/dev/null bs=256k count=$((BENCH_MB * 4)) iflag=direct 2>/dev/null ||
		fail "cannot read $device"
	quiet
	lost=$(($(origin_reads "$O") - before))
	[[ $1 != bare ]] || bare_mean=${write[mean]}
	row target "$1" write_nanoseconds "$(awk -v n="${write[count]}" -v mean="${write[mean]}" 'BEGIN { printf "%.0f", n * mean / 4 }')" \
		write_ratio "$(ratio "${write[mean]}" "$bare_mean")" read_mean_nanoseconds "${alone[mean]}" \
		read_p99_nanoseconds "${alone[p99]}" read_mean_ratio "$(ratio "${beside[mean]}" "${alone[mean]}")" \
		read_p99_ratio "$(ratio "${beside[p99]}" "${alone[p99]}")" dataset_bytes $((BENCH_MB << 20)) \
		dataset_bytes_lost "$lost"
	down "$1"
	pair_gone
}

bench() {
	local target device='' to='' bare_mean=0
	for target in "${targets[@]}"; do
		checkpoint "$target"
	done
}
