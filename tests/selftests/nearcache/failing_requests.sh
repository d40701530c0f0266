#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random requests to the cache device fail, in each mode, with and without checksums. No reader or
# writer may get an error or wrong data, before and after the bypass and in the next session.
# Then requests to the origin fail: readers get the error or the right data, and no failure counts
# against the cache device.
# kernels: debug
# timeout: 400
. ./cache.sh
. ./faults.sh

# session: start, load and stop a cache, which may end up bypassed; requests also fail during the
# start and the stop.
session() {
	local errors
	failing "$C"
	start
	faults 5 fail_make_request
	if [[ $MODE == read-only ]]; then
		check -b 8 -t 4
		check -b 1:200 -a 1 -r 100 -t 4
	else
		./stress run /dev/mapper/nc "$TMPDIR/model" -s 5 || fail "wrong"
		is write_errors 0
	fi
	errors=$(($(field hit_errors) + $(field fills_failed_cache)))
	stop
	faults_end fail_make_request
	healthy "$C"
	((errors)) || fail "no read or write of the cache device failed"
}

make_null O origin 8
make_null C local 6
for INTEGRITY in none crc32c; do
	for MODE in read-only writearound writethrough; do
		echo "$MODE, checksums: $INTEGRITY"
		if [[ $MODE == read-only ]]; then
			./blockdata write "$O"
		else
			./stress init "$O" "$TMPDIR/model"
		fi
		format
		for ((i = 0; i < $(times 2); i++)); do
			session
		done
		[[ $MODE == read-only ]] || ./stress verify "$O" "$TMPDIR/model" ||
			fail "the origin differs from the data that was read"
	done
done

MODE=read-only
./blockdata write "$O"
format
start
failing "$O"
faults 20 fail_make_request
check -e -b 8 -t 4
check -e -b 1:200 -a 1 -r 200 -t 4
faults_end fail_make_request
settle
above fills_failed_origin 0
is state 0
is hit_errors 0
is fills_failed_cache 0
check
settle
stop
# With origin_timeout the cache retries, so readers get no error.
format
start nc '2 origin_timeout 600'
faults 10 fail_make_request
check -b 64 -t 8
faults_end fail_make_request
settle
is state 0
check
echo "{\"faults_injected\": $faults_sum}"
