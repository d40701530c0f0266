# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# virtual time only: the sizes and rates of the devices are scaled
# memory: 4G
# timeout: 28800
# Fraction of the time that an accelerator computes while a loader reads for it like the workloads
# of MLPerf Storage (train.c). One factor scales all sizes and rates, the same for all targets. A
# read of 256 KiB keeps its size, so there are fewer reads by this factor, and each takes longer by
# it. Bytes, rates and latencies are stated here and in the rows without the scaling.
#   rows: workload, accelerator, order (reshuffled, same), io (direct, buffered), f (room of the
#	cache divided by the dataset), target, origin_ms, origin_gbps, epoch, au (fraction of the
#	time spent computing, without the first step), stalls (steps that wait for more than a
#	hundredth of a step), p99_wait_ms (of steps), bound (of au, by the bandwidth of the devices,
#	if in each epoch except the first all slots hit, including those that the cache may keep
#	free), origin (bytes read from the origin in the epoch, divided by the dataset)
# The parts about latency use half of the scale, as prefetch measures how long reads take. Targets
# raw-origin and raw-cache are the bare devices. nearcache-list submits a prefetch job with all
# reads of the epoch at its start; nearcache-plan submits a plan of all epochs and one more before
# the first one. With nearcache-daemon, 'nearcache daemon' runs; it does not get the order of the reads.
# Environment: TRAIN_PARTS: subset of the parts below; all together take some hours.
# bcache sometimes leaks a bio, which the kernel reports when the device stops:
# allow log: bio-[0-9]+ .*Objects remaining on __kmem_cache_shutdown|WARNING: .*(__kmem_cache_shutdown|kmem_cache_destroy)\+
# shellcheck disable=SC2154 # the including script sets the devices

# shellcheck source=tests/selftests/nearcache/daemon_on.sh
. ./daemon_on.sh
read -ra parts <<<"${TRAIN_PARTS:-main same full buffered list latency ahead slow loop bandwidth others}"
# The fill memory of a node with 100 GiB; the guest is too small to choose it.
cache_options='2 fill_memory 1073741824'
# Size of a cache block.
bytes=262144
# Local NVMe drive: a typical data-center drive.
CACHE_US=80
CACHE_MBPS=6000
# A record of unet3d is 560 reads of 256 KiB.
unet3d_scale=19.0735
unet3d_files=112
# How the devices are made.
pair=cold_pair

# shape WORKLOAD: set $scale and $files.
shape() {
	case $1 in
	unet3d) scale=$unet3d_scale files=$unet3d_files ;;
	resnet50) scale=9.5367 files=16 ;;
	# The scale leaves a record two of its eleven reads.
	cosmoflow) scale=5.4 files=500 ;;
	esac
}

# sum EXPRESSION: print the rounded value.
sum() {
	awk "BEGIN { printf \"%.0f\", $1 }"
}

# devices MILLISECONDS GB_PER_SECOND: set $origin_is and $cache_is (attributes) and $origin_rate
# (bytes per second). null_blk passes a fixed number of bytes every 20 ms and delays a request that
# does not fit, so the limit is a multiple of a read, with a rest for small reads.
devices() {
	local reads
	reads=$(sum "$2 * 1e9 / $scale / 50 / $bytes")
	origin_rate=$((reads * 50 * bytes))
	origin_is="hw_queue_depth=4096 completion_nsec=$(sum "$1 * 1e6 * $scale") mbps=$((reads * 25 / 2 + 1))"
	cache_is="completion_nsec=$(sum "$CACHE_US * 1e3 * $scale") mbps=$(sum "$CACHE_MBPS / $scale")"
}

loader() {
	"${BENCH_PROGRAMS:-$here/tools}/train" "$@" "${shape[@]}" || fail "train $*"
}

# listed EPOCH: submit a prefetch job with all reads of the epoch.
listed() {
	local range ranges=()
	while read -r range; do
		ranges+=("range=start=${range% *},length=${range#* }")
	done < <(loader -l -e "$1")
	./genl job-submit name=bench "${ranges[@]}" >/dev/null || fail "no job"
}

# planned EPOCHS: hand over all reads of these epochs as a plan.
planned() {
	local e
	for ((e = 1; e <= $1; e++)); do
		loader -l -e "$e"
	done | tr ' ' + >"$TMPDIR/plan"
	nearcache plan bench --from "$TMPDIR/plan" >/dev/null || fail "no plan"
}

# trained WORKLOAD ACCELERATOR ORDER IO PERCENT TARGET MILLISECONDS GB_PER_SECOND EPOCHS: measure.
trained() {
	local shape epoch au stalls wait dataset demand scale files hits words slots
	local origin_rate origin_is cache_is sectors
	[[ ! ${TARGETS:-} || " $TARGETS " == *" $6 "* ]] || return 0
	echo "# $1 $2 $3 $4, room for $5 %, $6, origin of $8 GB/s and $7 ms" >&2
	shape "$1"
	devices "$7" "$8"
	words=(-k "$scale" -n "$files")
	[[ $3 != same ]] || words+=(-o)
	[[ $4 != buffered ]] || words+=(-B)
	shape=(/dev/null "$1" "$2" "${words[@]}")
	read -r dataset demand < <(loader -i)
	# A 16th more: nearcache keeps 1/32 of its slots free, and bcache needs 5 % (cold.sh).
	$pair $((dataset / 1048576 + 2)) $((dataset * 17 / 16 / 1048576 + 512)) "$origin_is" "$cache_is"
	# Limit requests to the size of a read: a larger one may exceed the bytes that pass in 20
	# ms.
	echo 256 >"$(sys_block "$O")/queue/max_sectors_kb"
	cold_up "$6" $((dataset * $5 / 100 / bytes)) "$bytes"
	shape[0]=$device
	[[ $6 != *-daemon ]] || watch_on
	# The order of the next epoch is known as well, as with plan --append.
	[[ $6 != *-plan ]] || planned $(($9 + 1))
	for ((epoch = 1; epoch <= $9; epoch++)); do
		sectors=$(sectors_read)
		[[ $6 != *-list ]] || listed "$epoch"
		read -r au stalls wait _ < <(loader -e "$epoch")
		[[ $wait ]] || fail "no result"
		hits=$((epoch > 1 ? slots * bytes * 10000 / dataset : 0))
		[[ $6 != raw-cache ]] || hits=10000
		row workload "$1" accelerator "$2" order "$3" io "$4" f "$(percent "$5")" target "$6" \
			origin_ms "$7" origin_gbps "$8" epoch "$epoch" au "$au" stalls "$stalls" \
			p99_wait_ms "$(part "$wait" 1000000)" bound "$(bound "$hits")" \
			origin "$(part $((($(sectors_read) - sectors) * 512)) "$dataset")"
		nap 10
	done
	[[ $6 != *-daemon ]] || watch_off
	cold_down "$6"
	cold_gone
}

# watch_on: start the daemon.
watch_on() {
	grep -q ' /sys/fs/bpf bpf' /proc/mounts || mount -t bpf bpf /sys/fs/bpf || fail "no BPF file system"
	mkdir -p /run
	at_exit no_daemon
	daemon_on
}

# watch_off: end the daemon, and print its log.
watch_off() {
	sed 's/^/# /' "$LOG" >&2
	daemon_end
}

# sectors_read: print how many sectors of the origin were read so far.
sectors_read() {
	awk '{ print $3 }' "$(sys_block "$O")/stat"
}

# part NUMBER ALL: print NUMBER / ALL.
part() {
	awk -v part="$1" -v all="$2" 'BEGIN { printf "%.4f", part / all }'
}

# bound HITS: print the bound of AU if HITS of 10,000 bytes come from the cache device.
bound() {
	awk -v hits="$1" -v origin="$origin_rate" -v cache="$(sum "$CACHE_MBPS * 1e6 / $scale")" -v demand="$demand" '
	BEGIN {
		least = cache
		if (hits < 10000 && origin * 10000 / (10000 - hits) < least)
			least = origin * 10000 / (10000 - hits)
		printf "%.4f", (least < demand) ? least / demand : 1
	}'
}

# Compare with the peers, in a new order each epoch; part_same: in the same order.
part_main() {
	trained unet3d h100 reshuffled direct 0 raw-origin 0.2 1 1
	trained unet3d h100 reshuffled direct 100 raw-cache 0.2 1 2
	for target in nearcache dm-cache bcache; do
		trained unet3d h100 reshuffled direct 65 $target 0.2 1 5
	done
	trained unet3d a100 reshuffled direct 65 nearcache 0.2 1 3
}

part_same() {
	for target in nearcache dm-cache bcache; do
		trained unet3d h100 same direct 65 $target 0.2 1 4
	done
}

# The whole dataset fits into the cache.
part_full() {
	for target in nearcache dm-cache bcache; do
		trained unet3d h100 reshuffled direct 100 $target 0.2 1 4
	done
}

part_buffered() {
	trained unet3d h100 reshuffled buffered 0 raw-origin 0.2 1 1
	trained unet3d h100 reshuffled buffered 65 nearcache 0.2 1 3
}

# A cold cache with a prefetch job for all reads.
part_list() {
	local unet3d_scale=9.5367 unet3d_files=56
	trained unet3d h100 reshuffled direct 100 nearcache-list 0.2 1 2
	trained unet3d h100 reshuffled direct 100 nearcache-list 2 1 1
}

# An origin with enough bandwidth for the accelerator, at growing latency.
part_latency() {
	local ms unet3d_scale=9.5367 unet3d_files=56
	for ms in 0.2 1 2 5 20 50; do
		trained unet3d h100 reshuffled direct 0 raw-origin $ms 4 1
		trained unet3d h100 reshuffled direct 65 nearcache $ms 4 2
		trained unet3d h100 reshuffled direct 100 nearcache $ms 4 2
	done
}

# ahead_at GB_PER_SECOND MILLISECONDS [FILES]: run the targets with a list or a plan at this rate and
# latency of the origin. FILES is the dataset of plans for a cache that is smaller than it.
ahead_at() {
	local percent target files=$unet3d_files plan_files=${3:-$unet3d_files}
	for target in nearcache-list nearcache-plan; do
		trained unet3d h100 reshuffled direct 100 $target "$2" "$1" 1
	done
	trained unet3d h100 reshuffled direct 65 nearcache-list "$2" "$1" 2
	for percent in 65 25 50; do
		unet3d_files=$plan_files trained unet3d h100 reshuffled direct $percent nearcache-plan "$2" "$1" 2
	done
	# Far from the origin, readers without a job wait in each step, whatever the dataset.
	((${2%.*} < 20)) || files=112
	unet3d_files=$files trained unet3d h100 reshuffled direct 65 nearcache "$2" "$1" 2
}

# The scale makes a round trip longer, but not an epoch, and an epoch has fewer reads. So the data
# ahead of the readers, the free slots, and the steps at both ends of an epoch have more weight than
# on a node. A larger dataset compensates: 672 files instead of 112, and 2,016 where bytes are compared
# to 1 %. In some runs the data ahead of the readers at the end of an epoch is 0.5 % of 672 files; at 20
# ms it is 300 MB, 3 % of them. The comparison allows 0.35 % of the dataset for f = 0.65.
part_ahead() {
	local ms unet3d_scale=9.5367 unet3d_files=672 pair=cold_pair_unstored
	for ms in 0.2 1 2 5 20; do
		ahead_at 4 $ms 2016
	done
	ahead_at 4 50
}

# As part_ahead, with an origin that is slower than the readers: little data is ahead of them, so 672 files
# are enough. At 0.2 ms the readers keep it busy without
# a job. Jobs are compared here: with 112 files, each stalled step changes the AU of an epoch by 0.03.
part_slow() {
	local ms unet3d_scale=9.5367 unet3d_files=672 pair=cold_pair_unstored target
	for target in nearcache nearcache-list; do
		trained unet3d h100 reshuffled direct 65 $target 0.2 1 4
	done
	for ms in 0.2 1 2 5 20 50; do
		ahead_at 1 $ms
	done
}

# In a repeated order the daemon learns which data comes next.
part_loop() {
	local unet3d_scale=9.5367 unet3d_files=672 pair=cold_pair_unstored
	trained unet3d h100 same direct 65 nearcache-daemon 5 4 4
	trained unet3d h100 same direct 65 nearcache-daemon 20 4 4
}

part_bandwidth() {
	local gbps
	for gbps in 0.5 2; do
		trained unet3d h100 reshuffled direct 0 raw-origin 0.2 $gbps 1
		trained unet3d h100 reshuffled direct 65 nearcache 0.2 $gbps 2
	done
}

part_others() {
	local target
	trained cosmoflow h100 reshuffled direct 0 raw-origin 0.2 1 1
	for target in nearcache dm-cache bcache; do
		trained cosmoflow h100 reshuffled direct 65 $target 0.2 1 3
	done
	trained resnet50 h100 reshuffled direct 0 raw-origin 5 1 1
	trained resnet50 h100 reshuffled direct 65 nearcache 5 1 3
}

bench() {
	local part target
	for part in "${parts[@]}"; do
		"part_$part"
	done
}
