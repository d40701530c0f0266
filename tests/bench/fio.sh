# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Reads and writes by fio, with exact percentiles from its latency logs: the percentiles that fio
# prints have buckets up to 1.6 % wide. Included after targets.sh.

# Log only total latency, with wall-clock times.
FIO_LOGS=(--disable_clat=1 --disable_slat=1 --log_unix_epoch=1)

# fio_run NAME DEVICE [fio options]: run one job with direct I/O to its end. The latency of each
# request is then in $TMPDIR/NAME_lat.1.log.
fio_run() {
	local log=$TMPDIR/$1
	rm -f "$log"_*.log
	fio --name="$1" --filename="$2" --direct=1 --ioengine=libaio --thread --randseed=1 "${FIO_LOGS[@]}" \
		--write_lat_log="$log" --output="$log.fio" "${@:3}" || fail "fio on $2: $(<"$log.fio")"
}

# fio_times VARIABLE NAME [DIRECTION [FROM TO]]: latencies of a finished job in nanoseconds, into
# VARIABLE[count mean p50 p99 p999 max from to]. DIRECTION: 0 reads, 1 writes. FROM, TO: only
# requests that ended in this interval (milliseconds of wall-clock time).
fio_times() {
	# shellcheck disable=SC2178 # a map
	local -n times_of=$1
	local key value
	while read -r key value; do
		times_of["$key"]=$value
	done < <(awk -F', ' -v direction="${3:-0}" -v from="${4:-0}" -v to="${5:-9e15}" \
		'$3 == direction && $1 >= from && $1 <= to { print $2, $1 }' "$TMPDIR/$2"_lat.*.log | sort -n | awk '
		{ ns[NR] = $1; sum += $1; if (NR == 1 || $2 < from) from = $2; if ($2 > to) to = $2 }
		function rank(p,  n) { n = int(NR * p); if (n < NR * p) n++; return ns[n] }
		END {
			if (!NR) exit
			print "count", NR
			printf "mean %.3f\n", sum / NR
			print "p50", rank(.5)
			print "p99", rank(.99)
			print "p999", rank(.999)
			print "max", ns[NR]
			printf "from %.0f\nto %.0f\n", from, to
		}')
	[[ ${times_of[count]:-} ]] || fail "fio measured nothing of $2"
}

# ratio A B [DIGITS]: print A / B, 0 if B is 0.
ratio() {
	awk -v a="$1" -v b="$2" -v digits="${3:-4}" 'BEGIN { printf "%." digits "f", b ? a / b : 0 }'
}

background_pids=()

# background NAME DEVICE [fio options]: start a job that runs until background_end.
background() {
	fio --name="$1" --filename="$2" --direct=1 --ioengine=libaio --thread --randseed=2 --time_based --runtime=3600 \
		--output="$TMPDIR/$1.fio" "${@:3}" &
	background_pids+=($!)
}

# background_end: end all processes in background_pids.
background_end() {
	local pid
	for pid in "${background_pids[@]}"; do
		! kill "$pid" 2>/dev/null || wait "$pid" || true
	done
	background_pids=()
}
