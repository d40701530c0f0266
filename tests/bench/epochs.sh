# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Hit ratio of training jobs that read a dataset repeatedly, epoch by epoch.
#
# Reads of 64 KiB, eight in flight. The cache blocks of all targets have this size, so that no
# target reads more than the job does. Origin: 1 ms and 200 MB/s; cache device: 80 us and 2 GB/s. An
# idle time of ten seconds after each epoch lets caches do deferred work; their reads of the origin
# then count for this epoch.
#   rows: pattern (see orders.h), f (room of the cache, see cold.sh, divided by the dataset),
#	target, epoch, hit_ratio (1 - bytes for which a reader waited for the origin / bytes read),
#	origin_bytes_ratio (bytes read from the origin / bytes read), bound (hit_ratio of a cache
#	that knows all reads of all epochs: optimum.c)
# Environment: EPOCHS_PATTERNS, EPOCHS_F (percent): subsets; EPOCHS_MB: size of the dataset;
# EPOCHS_KB: size of a read and of a block. bcache sometimes leaks a bio, which the kernel reports
# when the device stops:
# allow log: bio-[0-9]+ .*Objects remaining on __kmem_cache_shutdown|WARNING: .*(__kmem_cache_shutdown|kmem_cache_destroy)\+
# shellcheck disable=SC2154 # the including script sets the devices

patterns=(full shards same half jobs mixture switch)
[[ ! ${EPOCHS_PATTERNS:-} ]] || read -ra patterns <<<"$EPOCHS_PATTERNS"
read -ra rooms <<<"${EPOCHS_F:-10 25 50 75}"
epochs=8
bytes=$((${EPOCHS_KB:-64} << 10))
dataset_mb=${EPOCHS_MB:-64}
blocks=$(((dataset_mb << 20) / bytes))
# Idle time in seconds; shorter on real devices, where it is real time.
idle=$([[ ${HOST:-} ]] && echo 1 || echo 10)

tool() {
	"${BENCH_PROGRAMS:-$here/tools}/epochs" "$@" -n "$blocks" -b "$bytes" -e "$epochs" || fail "epochs $*"
}

# targets_of PATTERN: print the targets to measure. -pins: the parts that are read more often are
# pinned, the hottest first. -plan: all reads are submitted as a plan first.
targets_of() {
	local list=(nearcache)
	[[ $1 != mixture ]] || list+=(nearcache-pins)
	[[ ! $1 =~ half|jobs|mixture ]] || ! has_plan || list+=(nearcache-plan)
	list+=(dm-cache bcache)
	[[ ! ${TARGETS:-} ]] || mapfile -t list < <(printf '%s\n' "${list[@]}" | grep -xF "${TARGETS// /$'\n'}")
	echo "${list[@]}"
}

has_plan() {
	nearcache plan --help >/dev/null 2>&1
}

# prepared TARGET PATTERN ROOM: submit the pins or the plan of the target.
prepared() {
	local hot=$((blocks / 10 + blocks * 3 / 10))
	case $1 in
	nearcache-pins)
		((hot < $3)) || hot=$3
		./genl range-add name=bench "range=start=0,length=$((hot * bytes)),label=hot,flags=1" >/dev/null ||
			fail "$hot blocks cannot be pinned"
		;;
	nearcache-plan)
		tool plan "$2" >"$TMPDIR/plan"
		nearcache plan bench --from "$TMPDIR/plan" >/dev/null || fail "no plan"
		;;
	esac
}

# marked TARGET: write a mark into each block of the origin, without caching it.
marked() {
	if [[ $1 == bcache ]]; then
		# The bcache device has an offset on the origin, so write through it.
		echo writearound >/sys/block/bcache0/bcache/cache_mode
		tool write "$device"
		echo writethrough >/sys/block/bcache0/bcache/cache_mode
	else
		tool write "$O"
	fi
}

# epoch TARGET PATTERN NUMBER: read one epoch; sets $read, $waited and $fetched, bytes.
epoch() {
	local before begun ended
	before=$(origin_reads "$O")
	read -r -a begun < <(demand "$1")
	read=$(tool read "$device" "$2" "$3")
	read -r -a ended < <(demand "$1")
	waited=$((read * (ended[0] - begun[0]) / (${ended[1]:-$read} - ${begun[1]:-0})))
	nap "$idle"
	fetched=$(($(origin_reads "$O") - before))
}

# run PATTERN PERCENT TARGET: measure all epochs.
run() {
	local room=$((blocks * $2 / 100)) number bounds read waited fetched
	echo "# $1, room for $2 %, $3" >&2
	mapfile -t bounds < <(tool bound "$1" "$room")
	cold_pair $((dataset_mb * ($([[ $1 == switch ]] && echo 2 || echo 1)) + 1)) $((dataset_mb + 64)) \
		'completion_nsec=1000000 mbps=200' 'completion_nsec=80000 mbps=2000'
	[[ $3 == bcache ]] || marked "$3"
	cold_up "$3" "$room" "$bytes"
	[[ $3 != bcache ]] || marked "$3"
	prepared "$3" "$1" "$room"
	for ((number = 1; number <= epochs; number++)); do
		epoch "$3" "$1" "$number"
		row pattern "$1" f "$(percent "$2")" target "$3" epoch "$number" \
			hit_ratio "$(part $((read - waited)) "$read")" \
			origin_bytes_ratio "$(part "$fetched" "$read")" bound "${bounds[number - 1]}"
	done
	cold_down "$3"
	pair_gone
}

# part BYTES ALL: print BYTES / ALL.
part() {
	awk -v part="$1" -v all="$2" 'BEGIN { printf "%.4f", part / all }'
}

bench() {
	local pattern room target
	for pattern in "${patterns[@]}"; do
		for room in "${rooms[@]}"; do
			for target in $(targets_of "$pattern"); do
				run "$pattern" "$room" "$target"
			done
		done
	done
}
