#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Another host changes the origin while the cache device is bypassed. attach must empty this cache
# device, whether or not an invalidation was requested meanwhile, and must accept another cache
# device only with --on-change=drop.
# kernels: 6.12
# cpus: 1
. ./given_up.sh
. ./command.sh
no_settings

# out_and_in GENERATION: rewrite the origin while the cache device is away. With told=fails, also
# request an invalidation that cannot be recorded.
out_and_in() {
	given_up
	generation=$1
	./blockdata write "$O" -g "$1"
	case $told in
	fails) bad 4 "cannot send 'invalidate all'" invalidate nc ;;
	esac
	lies slice linear
}

# empty: fail unless attach has emptied the cache device, and nc fills it again.
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

# An invalidation was requested but not recorded: the cache device was away.
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

# No invalidation was requested.
told=
out_and_in 3
good attach nc --on-change=drop
[[ $out == *"dropped: the origin's content was changed"* ]] || fail "attach: $out"
right
good close nc
good open nc --cache "$C" --origin "$O" -j
expect content warm loaded warm changed null
right

# A change between the ends, on an origin without known content: only a sample shows it.
given_up
./blockdata write "$O" -s 8192 -n 128 -g 4
lies slice linear
bad 4 "the cached data near byte 4194304 differs from it" attach nc --on-change=refuse
good attach nc -j
expect dropped true changed content state normal
(($(json sampled) > 0)) || fail "nothing is compared: $out"
cmp /dev/mapper/nc "$O" || fail "old data"
./blockdata write "$O" -s 8192 -n 128 -g "$generation"
good invalidate nc
right
dmsetup suspend nc && dmsetup resume nc

# Another cache device, which may lack changes of the origin: refused.
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

# In a writing mode, the fingerprint need not show the writes that the other cache device lacks.
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
bad 4 "may lack writes of 'nc': --on-change=drop" attach nc --cache "$other"
run attach nc --cache "$other" --on-change=drop -j
[[ $rc == 0 ]] || fail "attach: $err"
expect dropped true changed null state normal
empty
good close nc
