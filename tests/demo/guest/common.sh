# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for both boots of the demo. Runs in the guest.
set -euo pipefail
# shellcheck source=/dev/null
. /vm/lib.sh
# shellcheck source=/dev/null
. /payload/demo/settings

name=demo
# shellcheck disable=SC2034 # used by the scripts that source this
mapped=/dev/mapper/$name
data=/mnt/data
manifest=/payload/demo/manifest
mkdir -p "$data" /out

say() {
	echo "demo: $*"
}

# show COMMAND...: print and run the command.
show() {
	echo "  \$ $*"
	"$@" || fail "'$*' failed"
}

# fact NAME VALUE: record a fact for the report.
fact() {
	echo "$1 $2" >>/out/facts
}

# origin_up: connect the remote volume with the latency and bandwidth of the settings. Sets origin.
origin_up() {
	origin=$(remote_up "$LATENCY_US")
	remote_bandwidth "$RATE_MBPS"
	say "remote volume $origin over NVMe/TCP, $((LATENCY_US / 1000)) ms away, $RATE_MBPS MB/s"
}

# counter NAME...: print values of 'nearcache stats -j' in this order, on one line.
counter() {
	local json key values=()
	json=$(nearcache stats -j "$name") || fail "nearcache stats failed"
	for key; do
		[[ $json =~ \"$key\":[[:space:]]*([0-9]+) ]] || fail "no '$key' in: $json"
		values+=("${BASH_REMATCH[1]}")
	done
	echo "${values[@]}"
}

device_reads() {
	echo $(($(stat_sum "$1" 2) * 512))
}

# load LABEL EPOCH [OPTION...]: run one pass of the loader over all shards.
load() {
	local label=$1 epoch=$2
	shift 2
	drop_caches
	loader --manifest "$manifest" --dir "$data" --label "$label" --epoch "$epoch" \
		--seed "$SEED" --readers "$READERS" --batch "$BATCH" --result /run/result ${PROGRESS:+--progress} "$@"
}

# epoch LABEL NUMBER DEVICE [OPTION...]: run one pass and write its counters as a line of
# /out/epochs: LABEL, the loader's result, bytes served by DEVICE, bytes read from the origin, and
# the cache's hit, miss, join and bypass bytes.
epoch() {
	local label=$1 number=$2 device=$3 served origin_bytes written before=(0 0 0 0) after=(0 0 0 0)
	shift 3
	served=$(device_reads "$device")
	origin_bytes=$(origin_reads "$origin")
	written=$(origin_writes "$origin")
	[[ $device == "$origin" ]] ||
		read -ra before < <(counter hit_bytes miss_bytes join_bytes bypass_bytes)
	load "$label" "$number" "$@" || fail "epoch $number ($label) failed"
	[[ $device == "$origin" ]] ||
		read -ra after < <(counter hit_bytes miss_bytes join_bytes bypass_bytes)
	(($(origin_writes "$origin") == written)) || fail "the origin was written to"
	echo "$label $(</run/result) $(($(device_reads "$device") - served))" \
		"$(($(origin_reads "$origin") - origin_bytes))" $((after[0] - before[0])) \
		$((after[1] - before[1])) $((after[2] - before[2])) $((after[3] - before[3])) >>/out/epochs
	epoch_say
}

epoch_say() {
	tail -n 1 /out/epochs | awk '{
		printf "  %-13s epoch %d: %.1f s, %.1f MB/s, waiting for data %.0f %%, origin %.0f MB\n",
			$1, $2, $3, $4 / $3 / 1e6, 100 * $5 / $3, $9 / 1e6 }'
}
