# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Reads and writes by fio, and what they took, to the nanosecond: fio's own percentiles are of
# buckets that are up to 1.6 % wide. Included behind targets.sh.

# fio_run NAME DEVICE [fio options]: one job, with direct I/O, to its end. What each request took is
# in $TMPDIR/NAME_lat.1.log then.
fio_run() {
	local log=$TMPDIR/$1
	rm -f "$log"_*.log
	fio --name="$1" --filename="$2" --direct=1 --ioengine=libaio --thread --randseed=1 --disable_clat=1 \
		--disable_slat=1 --write_lat_log="$log" --output="$log.fio" "${@:3}" || fail "fio on $2: $(<"$log.fio")"
}

# fio_times VARIABLE NAME [DIRECTION]: nanoseconds of the requests of a job that is over; DIRECTION: 0
# reads, 1 writes. Puts them into VARIABLE[count mean p50 p99 p999 max].
fio_times() {
	local -n times_of=$1
	local key value
	while read -r key value; do
		times_of[$key]=$value
	done < <(awk -F', ' -v direction="${3:-0}" '$3 == direction { print $2 }' "$TMPDIR/$2"_lat.*.log | sort -n | awk '
		{ ns[NR] = $1; sum += $1 }
		function rank(p,  n) { n = int(NR * p); if (n < NR * p) n++; return ns[n] }
		END {
			if (!NR) exit
			print "count", NR
			printf "mean %.3f\n", sum / NR
			print "p50", rank(.5)
			print "p99", rank(.99)
			print "p999", rank(.999)
			print "max", ns[NR]
		}')
	[[ ${times_of[count]:-} ]] || fail "fio measured nothing of $2"
}

# ratio A B [DIGITS]
ratio() {
	awk -v a="$1" -v b="$2" -v digits="${3:-4}" 'BEGIN { printf "%." digits "f", b ? a / b : 0 }'
}
