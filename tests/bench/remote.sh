# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# virtual time only: the network is a model
# Reads at a peer that has the data, and reads while a peer dies: the cluster device beside
# dm-switch above dm-multipath on the same caches. The network is that of the benchmark cluster, the
# scaling that of train.
#   rows: device (nearcache-cluster, dm-switch-multipath), case, pattern (random, sequential),
#	block_size (bytes), iodepth, bytes_per_second, ratio, longest_ms, stalled (reads that took
#	more than a second)
#   case port, drive: all data is at one peer, and its port (25 Gb/s) is slower than its drive (6
#	GB/s), or its drive (2 GB/s) slower than its port; ratio: to the slower one alone
#   case dead: four nodes. A peer dies, and the transport (keep-alive and fast_io_fail) needs 5 s to
#	return its reads. 32 readers, or 256 with two reads per second each. bytes_per_second and
#	ratio (to the 2 s before) are those of these 5 s
#   case after: the same for the next 2 s
# shellcheck disable=SC2154,SC2034 # the including script sets the devices
# shellcheck source=tests/bench/train.sh
. "$here/train.sh"
# shellcheck source=tests/bench/nodes.sh
. "$here/nodes.sh"

targets=(nearcache-cluster dm-switch-multipath)
# Cached data and metadata, MiB.
REMOTE_MB=128 METADATA_MB=2
# Time until the transport returns the reads of a dead peer; time measured before and after, ms.
TIMERS_MS=5000 AROUND_MS=2000
declare -A alone

# remote_up NODES CACHE_GBPS: make the nodes, and have the home of each extent cache it.
remote_up() {
	local origin_rate origin_is cache_is
	nodes=$1
	shape unet3d
	CACHE_MBPS=$(($2 * 1000)) devices 0.2 1
	# shellcheck disable=SC2086 # one word each
	make_null O origin $((REMOTE_MB + 2)) $origin_is memory_backed=0
	echo 256 >"$(sys_block "$O")/queue/max_sectors_kb"
	homes_up $((REMOTE_MB * 4 + 16)) "$cache_is"
	nodes_up
}

# warm DEVICE: read all data.
warm() {
	dd if="$1" of=/dev/null bs=256k count=$((REMOTE_MB * 4)) iflag=direct 2>/dev/null || fail "cannot read $1"
}

# rate_of PATTERN SIZE DEPTH DEVICE [OFFSET_MB]: read, and fill the map "times" of the caller; sets
# $rate, bytes per second.
rate_of() {
	local lines
	fio_run reads "$4" --rw="$1" --bs="$2" --iodepth="$3" --offset="${5:-0}m" --size=${REMOTE_MB}m \
		--io_size=1g --number_ios=$((512 * 1048576 / $2))
	# Drop the reads in flight at the end: fio reaps them together and reports wrong latencies.
	mapfile -t lines <"$TMPDIR/reads_lat.1.log"
	printf '%s\n' "${lines[@]::${#lines[@]}-$3}" >"$TMPDIR/reads_lat.1.log"
	fio_times times reads
	rate=$(ratio $(($2 * $3 * 1000000000)) "${times[mean]}" 0)
}

# window VARIABLE FROM TO: reads between these times (ms of wall-clock time), into VARIABLE[count]
# (reads that ended then), VARIABLE[max] and [stalled] (of reads that began then).
window() {
	local -n found=$1
	read -r "found[count]" "found[max]" "found[stalled]" < <(awk -F', ' -v from="$2" -v to="$3" '
		$1 >= from && $1 < to { n++ }
		{ begun = $1 - $2 / 1e6 }
		begun >= from && begun < to { if ($2 > max) max = $2; if ($2 > 1e9) late++ }
		END { printf "%d %.0f %d\n", n, max, late }' "$TMPDIR"/reads_lat.*.log)
}

# throughput CASE: measure reads at one peer.
throughput() {
	local EXTENT=$((1 << 31)) reads=() nodes peer link rate cell pattern size depth
	local -A times seen
	remote_up 2 "$([[ $1 == port ]] && echo 6 || echo 2)"
	read -r peer _ < <(./cluster_homes -l 1 n1:1 n2:1)
	peer=${peer#n}
	warm "/dev/mapper/home$peer"
	settle "home$peer"
	make_null link fast $((REMOTE_MB + 2)) memory_backed=0
	make_link link bare "$link" 62 63
	for cell in read,1048576,4 randread,131072,32; do
		IFS=, read -r pattern size depth <<<"$cell"
		if [[ ! ${alone[$1,$cell]:-} ]]; then
			if [[ $1 == port ]]; then
				rate_of "$pattern" "$size" "$depth" "$link"
			else
				rate_of "$pattern" "$size" "$depth" "/dev/mapper/drive$peer" $METADATA_MB
			fi
			alone[$1,$cell]=$rate
		fi
		rate_of "$pattern" "$size" "$depth" "${reads[3 - peer]}"
		window seen 0 9e15
		row device "$target" case "$1" pattern "$([[ $pattern == read ]] && echo sequential || echo random)" block_size "$size" iodepth "$depth" \
			bytes_per_second "$rate" ratio "$(ratio "$rate" "${alone[$1,$cell]}")" \
			longest_ms "$(ratio "${seen[max]}" 1000000 1)" stalled "${seen[stalled]}"
	done
	nodes_gone
}

# death READERS [FIO_OPTIONS]: measure reads during and after the death of a peer.
death() {
	local reads=() nodes died
	local -A before dead after
	remote_up 4 6
	warm "${reads[1]}"
	rm -f "$TMPDIR"/reads_*.log
	background reads "${reads[1]}" --rw=randread --bs=131072 --numjobs="$1" --size=${REMOTE_MB}m "${@:2}" \
		"${FIO_LOGS[@]}" --write_lat_log="$TMPDIR/reads"
	nap 3
	died=$((${EPOCHREALTIME/./} / 1000))
	dmsetup message link1-2 0 die $TIMERS_MS || fail "the peer lives"
	nap 7.5
	background_end
	window before $((died - AROUND_MS)) $died
	window dead $died $((died + TIMERS_MS))
	window after $((died + TIMERS_MS)) $((died + TIMERS_MS + AROUND_MS))
	death_row dead $TIMERS_MS "$1"
	death_row after $AROUND_MS "$1"
	nodes_gone
}

# death_row CASE MS READERS: append the row of a case that took MS.
death_row() {
	local -n of=$1
	row device "$target" case "$1" pattern random block_size 131072 iodepth "$3" \
		bytes_per_second $((of[count] * 131072 * 1000 / $2)) \
		ratio "$(ratio $((of[count] * AROUND_MS)) $((before[count] * $2)))" \
		longest_ms "$(ratio "${of[max]}" 1000000 1)" stalled "${of[stalled]}"
}

bench() {
	local target
	insmod "/link/$(uname -r)/dm-bench-link.ko" || fail "no model of a link"
	for target in "${targets[@]}"; do
		throughput port
		throughput drive
		death 32
		death 256 --rate_iops=2 --rate_process=poisson
	done
}
