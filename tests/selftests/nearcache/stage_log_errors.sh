#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The n-th and all later writes to the log fail; for even n only until the first error. No request
# succeeds after the first error, the origin is at the end of an epoch or within the next one, and a
# start finds all that was flushed.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

table="16384 nearcache-stage"

# acknowledged: was the last request successful? None may be after one that failed.
acknowledged() {
	if [[ $REPLY == 'done' ]]; then
		[[ ! $failed ]] || fail "write $n: a request succeeds after a failed one"
		return 0
	fi
	expect EIO
	failed=1
	# The log works again: the stage must refuse writes by itself.
	((n % 2)) || gate pass log
	return 1
}

# generation FIRST: print the generation of a sector of the stage.
generation() {
	gate get "$NC" "$1" 1
	echo "${REPLY%x*}"
}

# writes: write two sectors of each generation and flush; set $acked to the last one that was flushed.
writes() {
	acked=1 failed=''
	for ((g = 2; g < 6; g++)); do
		for at in 0 1000; do
			gate put "$NC" $g $at 1
			acknowledged || true
		done
		gate flush f "$NC"
		gate end f
		! acknowledged || acked=$g
	done
}

# origin_boundary: the two sectors of the origin are of one epoch, or of two that follow each other.
origin_boundary() {
	local a b
	gate look origin 0 1
	a=${REPLY%x*}
	gate look origin 1000 1
	b=${REPLY%x*}
	((a - b <= 1 && b - a <= 1)) || fail "write $n: the origin has generations $a and $b"
}

gated_stage 8 20
stage_stop
table="16384 nearcache-stage $L $O"
./stage_format "$L" 16384 || fail "stage_format"
gate keep log
step=1
for ((n = 0; ; n += step)); do
	gate restore log
	gate fill origin 1 0 16384
	gate break log write $n
	gate create st "$table"
	acked=1 failed=1
	if [[ $REPLY == 'done' ]]; then
		writes
		origin_boundary
		gate remove st
		expect 'done'
	fi
	origin_boundary
	gate pass log
	gate create st "$table"
	expect 'done'
	for at in 0 1000; do
		((g = $(generation $at), g >= acked && g < 6)) ||
			fail "write $n: generation $g of sector $at, and $acked was flushed"
	done
	gate remove st
	expect 'done'
	[[ $failed ]] || break
	((n < 60)) || fail "it does not end"
done
((n > 15)) || fail "only $n writes"
