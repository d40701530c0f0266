#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache of two blocks must serve right data, use at most two blocks, and be warm after a restart.
# kernels: 6.12
# cpus: 1
. ./cache.sh

make_null O origin 4
make_null local local 16
./blockdata write "$O"
# Find the smallest device that can be formatted with two blocks.
smallest=$(nearcache create x --cache "$local" --origin "$O" --block-size 64K --dry-run -j |
	sed -n 's/.*"data_offset": *\([0-9]*\).*/\1/p' | head -n 1)
size=$(((${smallest:-2097152} + 2 * 65536) / 512))
make_dm C slice "0 $size linear $local 0"
until nearcache create fmt --cache "$C" --origin "$O" --block-size 64K --format-only --force \
	2>"$TMPDIR/why" >/dev/null; do
	grep -q 'need at least' "$TMPDIR/why" || fail "$(<"$TMPDIR/why")"
	size=$((size + 8))
	dm_remove slice
	dm_create slice "0 $size linear $local 0" >/dev/null
done
start
blocks=$(field blocks)
((blocks == 2)) || fail "$blocks blocks, expected 2"
is blocks_used 0
# Restart once, because a cache that started empty retains a random part of the blocks.
check -n 128 -b 128
settle
stop
start
is blocks_used 1
check -n 256 -b 128
settle
is blocks_used 2
check -b 1:256 -a 1 -r "$(times 150)" -t 4
settle
# At most two: reclaim may have freed one or both slots just now.
(($(field blocks_used) <= 2)) || fail "more blocks in use than slots"
above bypass_full 0
(($(field bytes_valid) <= 2 * 65536)) || fail "more bytes are valid than fit"
# Read only another part of the origin, until the old blocks are idle.
check -s 4096 -n 256 -b 8 -r "$(times 750)"
settle
above evictions 0
check -b 128
settle
stop
start
is loaded 2
is blocks_warm "$(field blocks_used)"
check -b 128 -t 2
