#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log's drive is pulled out while a program writes and flushes: the program gets an error, and the
# stage can be removed. When the drive is back, all that was flushed is there.
# kernels: 6.12
# cpus: 1
. ./drive.sh
. ./stage.sh

# flushes: write the next generation and flush, until that fails; $TMPDIR/flushed is the last one.
flushes() {
	local g
	for ((g = 2; ; g++)); do
		./blockdata write /dev/mapper/st -n 8 -g $g && dd if=/dev/null of=/dev/mapper/st conv=notrunc,fsync ||
			return
		echo $g >"$TMPDIR/flushed"
	done
}

flushed() {
	local last
	last=$(<"$TMPDIR/flushed")
	((${last:-0} >= $1))
}

holds() {
	./blockdata read /dev/mapper/st -n 8 -g "$1" >/dev/null 2>&1
}

need_drive
make_null O origin 8
L=$C
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
stage_start
echo 1 >"$TMPDIR/flushed"
flushes >/dev/null 2>&1 &
writer=$!
wait_for 60 flushed 4 || fail "no flushes: $(<"$TMPDIR/flushed")"
pull
wait "$writer"
stage_until state 2
stage_stop
plug
L=$C
stage_start
last=$(<"$TMPDIR/flushed")
holds "$last" || holds $((last + 1)) || fail "generation $last was flushed, and is lost"
stage_drained
