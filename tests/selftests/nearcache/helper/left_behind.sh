#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache device that was replaced by another comes back. It lacks the invalidations and writes
# since its replacement, so it must start empty.
# kernels: 6.1
# cpus: 1
. ./given_up.sh
. ./command.sh

bypassed() {
	dd if=/dev/mapper/nc of=/dev/null bs=4k count=512 iflag=direct 2>"$TMPDIR/dd" ||
		fail "a read fails: $(cat "$TMPDIR/dd")"
	[[ $(field state) == 1 ]]
}

# given_up NAME DEV: make the cache device fail until nc bypasses it; then make it work again.
given_up() {
	lies "$1" error "$2"
	wait_for 30 bypassed || fail "not bypassed"
	lies "$1" linear "$2"
}

# right: read the changing part twice, so that the second pass hits.
right() {
	./blockdata read /dev/mapper/nc -g "$generation" -s 1024 -n 8192 || fail "wrong data (line ${BASH_LINENO[0]})"
	settle
	./blockdata read /dev/mapper/nc -g "$generation" -s 1024 -n 8192 || fail "wrong data (line ${BASH_LINENO[0]})"
}

# changed GENERATION: another host changes the origin, except its ends.
changed() {
	generation=$1
	./blockdata write "$O" -g "$generation" -s 1024 -n 8192
	good invalidate nc
}

make_null O origin 8
make_null one one 12
make_null two two 12
make_dm A first "$(under linear "$one")"
make_dm B second "$(under linear "$two")"
at_exit dm_gone nc
./blockdata write "$O"
good create nc --origin "$O" --cache "$A" --block-size 64K
generation=1
check
right
written_down
given_up first "$one"
run attach nc --cache "$B" --format-cache --block-size 64K
[[ $rc == 0 ]] || fail "attach: $err"
right
changed 2
right
written_down
given_up second "$two"
run attach nc --cache "$A" -j
[[ $rc == 0 ]] || fail "attach: $err"
expect state normal loaded unclean bytes_valid 0
right
# The same with the roles of the two devices exchanged.
changed 3
right
given_up first "$one"
# Unlike the other one it looks clean, but a sample of its data differs from the origin.
bad 4 "--on-change=drop" attach nc --cache "$B"
run attach nc --cache "$B" --on-change=drop -j
[[ $rc == 0 ]] || fail "attach: $err"
expect state normal bytes_valid 0
right
# The cache device that was last in use must be warm.
good close nc
good open nc --cache "$B" --origin "$O" -j
expect loaded warm
right
good close nc
