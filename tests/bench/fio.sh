# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Reads and writes by fio, and what they took, to the nanosecond: fio's own percentiles are of
# buckets that are up to 1.6 % wide. Included behind targets.sh.

# Of the total latency alone; times are those of the clock.
FIO_LOGS=(--disable_clat=1 --disable_slat=1 --log_unix_epoch=1)

# fio_run NAME DEVICE [fio options]: one job, with direct I/O, to its end. What each request took is
# in $TMPDIR/NAME_lat.1.log then.
fio_run() {
	local log=$TMPDIR/$1
	rm -f "$log"_*.log
	fio --name="$1" --filename="$2" --direct=1 --ioengine=libaio --thread --randseed=1 "${FIO_LOGS[@]}" \
		--write_lat_log="$log" --output="$log.fio" "${@:3}" || fail "fio on $2: $(<"$log.fio")"
}

# fio_times VARIABLE NAME [DIRECTION [FROM TO]]: nanoseconds of the requests of a job that is over;
# DIRECTION: 0 reads, 1 writes; FROM, TO: those that ended then (milliseconds of the clock). Puts them
# into VARIABLE[count mean p50 p99 p999 max from to].
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

# ratio A B [DIGITS]
ratio() {
	awk -v a="$1" -v b="$2" -v digits="${3:-4}" 'BEGIN { printf "%." digits "f", b ? a / b : 0 }'
}

background_pids=()

# background NAME DEVICE [fio options]: a job that goes on until background_end.
background() {
	fio --name="$1" --filename="$2" --direct=1 --ioengine=libaio --thread --randseed=2 --time_based --runtime=3600 \
		--output="$TMPDIR/$1.fio" "${@:3}" &
	background_pids+=($!)
}

# background_end: all that background began, and what else is in background_pids.
background_end() {
	local pid
	for pid in "${background_pids[@]}"; do
		! kill "$pid" 2>/dev/null || wait "$pid" || true
	done
	background_pids=()
}
