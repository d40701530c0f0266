#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run each management operation with a cache device whose n-th and later writes fail, n = 1, 2, ...
# until the operation needs fewer than n writes. Afterwards reads must return the right data, and
# again when the device works and the cache is started as after a crash at the failed write.
# timeout: 400
# kernels: 6.1
# cpus: 1
. ./gate.sh
# With checksums, the operations also write the checksum area.
# shellcheck disable=SC2034 # for format
INTEGRITY=crc32c
faults=0

# open, close, reload: as start, stop and reload, but by the gate, with no new process; may fail.
open() {
	table
	done_by create nc "$REPLY"
}

start() {
	open || fail "start: $REPLY"
}

close() {
	done_by remove nc
}

stop() {
	close || fail "stop: $REPLY"
}

reload() {
	table
	done_by reload nc "$REPLY"
}

# ready: save the content of the cache device with a clean, partly filled cache.
ready() {
	gate fill origin 1 0 "$gate_sectors"
	format
	MODE=read-only start
	cached 0 512
	cached 2048 32
	stop
	./intent "$C" witness "$W" 0
	gate keep cache
}

# witnessed: use a witness, on a device that never fails.
witnessed() {
	OPTIONS="4 cache_timeout 0 witness $W"
}

opened() {
	MODE=$1 start
	cached 0 512
	cached 2048 32
}

written_to() {
	opened writethrough
	puts 1 0 16
}

# before_OPERATION prepares OPERATION, which may fail: only the data afterwards is checked.
before_open_reading() { :; }
open_reading() { MODE=read-only open; }

before_open_writing() { :; }
open_writing() { MODE=writethrough open; }

before_close_reading() { opened read-only; }
close_reading() { close; }

before_close_writing() { written_to; }
close_writing() { close; }

before_suspend() { opened read-only; }
suspend() { done_by suspend nc && done_by resume nc; }

before_to_writing() { opened read-only; }
to_writing() { MODE=writearound reload; }

before_to_reading() { written_to; }
to_reading() { MODE=read-only reload; }

before_invalidate() { opened read-only; }
invalidate() {
	gate fill origin 2 128 64
	done_by message nc invalidate 128 64
}

before_invalidate_all() { opened read-only; }
invalidate_all() {
	gate fill origin 2 0 "$gate_sectors"
	done_by message nc invalidate all
}

before_open_witness() { witnessed; }
open_witness() { MODE=writethrough open; }

before_suspend_witness() {
	witnessed
	written_to
}
suspend_witness() { suspend; }

# mark: a write sets a mark in the write intent, which is cleared after about 4 s.
before_mark() {
	witnessed
	opened writethrough
	gate until nc intent_regions = 0
}
mark() {
	puts 2 2048 16
	wait_for 30 swept
}

swept() {
	gate value nc intent_regions
	[[ $REPLY == 0 ]]
}

# there: does the device exist? Resume it if it is suspended, or I/O on it would hang.
there() {
	gate state nc
	[[ $REPLY != none ]] || return 1
	if [[ $REPLY == suspended ]]; then
		# The documented way out of a resume that fails: a reload in read-only mode.
		MODE=read-only reload || fail "$op, write $n: the device stays suspended"
	fi
}

# same_as_origin: fail unless all reads through the cache return the data of the origin.
same_as_origin() {
	local generation=1
	[[ $op != invalidate_all ]] || generation=2
	[[ $op != mark ]] || agrees 2048 32 '2x16 1x16'
	if [[ $op == invalidate ]]; then
		agrees 0 448 '1x128 2x64 1x256'
	else
		agrees 0 448 "${generation}x448"
	fi
	agrees 448 64 "${written:-$generation}x64"
}

# change: write to the device if it runs in a writing mode.
change() {
	written=''
	gate state nc
	[[ $REPLY == *" write"* ]] || return 0
	puts 3 448 64
	written=3
}

# tried N: run the operation with a cache device that accepts N - 1 writes; true if it needs more.
tried() {
	n=$1
	OPTIONS='2 cache_timeout 0'
	gate restore cache
	gate fill origin 1 0 "$gate_sectors"
	before_"$op"
	gate seen cache
	gate break cache write $((n - 1))
	local told=1
	"$op" >/dev/null 2>&1 || told=''
	gate seen cache
	read -r _ writes _ <<<"$REPLY"
	written=''
	if there; then
		change
		same_as_origin
		stop
	fi
	gate pass cache
	# After EIO, cached data that was to be invalidated is still on the medium: format again.
	[[ $op != invalidate* || $told ]] || format
	# Start as in the next boot.
	MODE=read-only start
	same_as_origin
	stop
	((writes >= n)) || return 1
	faults=$((faults + 1))
}

gates 2 8
make_null W witness 1
at_exit dm_gone nc
ready
for op in open_reading open_writing close_reading close_writing suspend to_writing to_reading \
	invalidate invalidate_all open_witness \
	suspend_witness mark; do
	n=1 step=1
	# One try of "mark" takes four seconds: only 'make soak' tries each n.
	[[ $op != mark || ${SOAK:-} ]] || step=2
	while tried $n; do
		(((n += step) < 40)) || fail "$op does not end"
	done
	echo "$op: $writes writes"
	((n > 1)) || fail "$op writes nothing: nothing was tried"
done
echo "{\"faults_injected\": $faults}"
