#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The limits of a stage that create, open and 'nearcache stage' gave are remembered with the cache above
# it. Without the stage they have no effect.
# kernels: 6.1
# cpus: 1
. ./staged.sh
unset -f nearcache

SETTINGS=/var/lib/nearcache/settings

# stage OPTION VALUE...: the table of the stage must have these options.
stage() {
	local now
	now=$(dmsetup table nc-stage)
	while (($#)); do
		[[ "$now " == *" $1 $2 "* ]] || fail "not '$1 $2': $now"
		shift 2
	done
}

make_staged settings-stage
at_exit rm -rf "$SETTINGS"
rm -rf "$SETTINGS"
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force --mode writeback --rate 1M \
	--cache-timeout 800 --max-behind 1M
good stage rate nc 2M
good stage max-behind nc 10m
good stage on-full nc writethrough
good stage rate nc 4M --dry-run
good set nc origin_timeout=40
good close nc
good open nc --cache "$C" -j
expect mode writearound remembered \
	'cache_timeout=800 origin_timeout=40 rate=2097152 max_behind=600s on_full=writethrough'
stage rate 2097152 max_behind_time 600 origin_timeout 40 on_full writethrough
# The mode of a cache with a stage is writearound, unless it was given another.
good set nc mode=read-only
good close nc
good open nc --cache "$C" -j
expect mode read-only
good close nc
good open nc --cache "$C" --mode writeback --rate 3M -j
expect mode writearound
good close nc

# The cache is lost: its stage has the limits of the cache that nc had last.
uuid=$(basename "$(echo "$SETTINGS"/*)")
echo "nc $O /dev/nowhere stage=$L,on-full=wait" >"$TMPDIR/tab"
run open nc --tab "$TMPDIR/tab" -j
[[ $rc == 0 && $err == *'passes through'* ]] || fail "open: $rc, $err"
stage rate 3145728 max_behind_time 600 origin_timeout 40
[[ $(dmsetup table nc-stage) != *on_full* ]] || fail "the line does not win: $(dmsetup table nc-stage)"
good close nc

# Given up: the cache goes on without the limits of a stage, and without the mode that was meant for it.
good open nc --cache "$C"
good set nc mode=writethrough
good close nc
run open nc --cache "$C" --abandon-stage --origin "$O" -j
[[ $rc == 0 ]] || fail "open: $err"
expect mode read-only remembered 'cache_timeout=800 origin_timeout=40'
good close nc
good open nc --cache "$C" --origin "$O" -j
expect mode read-only
good close nc
run open nc --cache "$C" --origin "$O" --mode writethrough -j
[[ $rc == 0 ]] || fail "open: $err"
expect mode writethrough remembered 'cache_timeout=800 origin_timeout=40'
good close nc
good open nc --cache "$C" --origin "$O" -j
expect mode writethrough remembered 'mode=writethrough cache_timeout=800 origin_timeout=40'
good destroy nc
[[ ! -e $SETTINGS/$uuid ]] || fail "destroy leaves $uuid"
