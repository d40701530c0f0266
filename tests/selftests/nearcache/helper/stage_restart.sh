#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Retained data is read from the log after a close and an open only with --exclusive: then the origin is
# not read. Otherwise reads get what the origin has, also if the origin was reserved.
# kernels: 6.12
# cpus: 1
# timeout: 300
# allow-log: reservation conflict
. ./staged.sh
. ./reservation.sh

# staged WORDS...: a new cache whose log retains 2 MiB at 4 MiB.
staged() {
	good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force "$@"
	./blockdata write /dev/mapper/nc -s 8192 -n 4096
	good stage drain nc --wait
	good close nc --keep
}

# reopened RETAINED GENERATION [WORDS...]: open; check whether the data is retained, and read it.
reopened() {
	local before
	run open nc --cache "$C" --origin "$O" --on-change=drop -j "${@:3}"
	[[ $rc == 0 && $(json retained) == "$1"* ]] || fail "open ${*:3}: $rc, '$(json retained)' $err"
	before=$(origin_reads "$O")
	./blockdata read /dev/mapper/nc-stage -s 8192 -n 4096 -g "$2" >/dev/null || fail "$1: wrong data"
	(($(origin_reads "$O") - before == $([[ $1 == kept* ]] && echo 0 || echo 2097152))) ||
		fail "$1: $(($(origin_reads "$O") - before)) bytes of the origin were read"
	check -s 8192 -n 4096 -g "$2"
	good close nc --keep
}

# destroyed: also of an origin that is reserved.
destroyed() {
	run open nc --cache "$C" --origin "$O" --on-change=drop
	good destroy nc
}

make_volume 64
make_null C local 24
make_null L log 32
at_exit staged_gone
staged --reserve
reopened "dropped: others may have written" 1
destroyed

staged --reserve
# Another node had a key, and may have written.
./reserve "$O2" register 0x77
./blockdata write "$O2" -s 8192 -n 4096 -g 3
./reserve "$O2" forget 0x77
reopened "dropped: others may have written" 3
destroyed

staged
reopened "kept: --exclusive" 1 --exclusive
# Another program of this node writes.
./blockdata write "$O" -s 8192 -n 4096 -g 2
reopened "dropped: others may have written" 2
