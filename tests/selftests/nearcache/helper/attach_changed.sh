#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin was changed by somebody else while the cache device was given up: that cache is taken
# back empty, told or not; another one only when that is said.
# kernels: 6.12
# cpus: 1
. ./given_up.sh
. ./command.sh

# out_and_in GENERATION: the origin is changed meanwhile; $told says how that is told.
out_and_in() {
	given_up
	generation=$1
	./blockdata write "$O" -g "$1"
	case $told in
	fails) bad 4 "cannot tell 'invalidate all'" invalidate nc ;;
	esac
	lies slice linear
}

# empty: it is in use again, and fills.
empty() {
	is state 0
	[[ $(json bytes_valid) == 0 ]] || fail "attach: $out"
	right
	hits=$(field hits)
	right
	above hits "$hits"
}

make_null O origin 8
make_null local local 12
make_null other other 12
make_dm C slice "$(under linear "$local")"
at_exit dm_gone nc
generation=1
./blockdata write "$O"
good create nc --origin "$O" --cache "$other" --block-size 64K
right
good close nc
good create nc --origin "$O" --cache "$C" --block-size 64K
right
dmsetup suspend nc && dmsetup resume nc

# Told, and not recorded: the medium was away.
told=fails
out_and_in 2
good attach nc --dry-run -j
expect dropped false changed content
good attach nc --dry-run
[[ $out == *'would be dropped'* ]] || fail "dry run: $out"
bad 4 "was changed since" attach nc --on-change=refuse
is state 1
good attach nc -j
expect dropped true changed content state normal
empty

# Not told.
told=
out_and_in 3
good attach nc --on-change=drop
[[ $out == *"dropped: the origin's content was changed"* ]] || fail "attach: $out"
right
good close nc
good open nc --cache "$C" --origin "$O" -j
expect content warm loaded warm changed null
right

# Another one, of which this device knows nothing.
given_up
bad 4 "was changed since" attach nc --cache "$other"
[[ $out == *'--on-change=drop empties'* ]] || fail "no advice: $out"
run attach nc --cache "$other" --on-change=drop -j
[[ $rc == 0 ]] || fail "attach: $err"
expect dropped true state normal
empty
good close nc
good open nc --cache "$other" --origin "$O" -j
expect content warm changed null
right

# In a writing mode the ends need not tell what it lacks.
good close nc
lies slice linear
good create nc --origin "$O" --cache "$C" --force --block-size 64K
good close nc
good open nc --cache "$other" --origin "$O" --mode writethrough
right
good close nc
good open nc --cache "$C" --origin "$O" --mode writethrough
right
given_up
bad 4 "may lack what 'nc' wrote: --on-change=drop" attach nc --cache "$other"
run attach nc --cache "$other" --on-change=drop -j
[[ $rc == 0 ]] || fail "attach: $err"
expect dropped true changed null state normal
empty
good close nc
