#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a crash leaves on the cache device starts cold: never a block that may be
# another one's. After a clean stop the cache is warm again.
# kernels: 6.12
. ./cache.sh

# crash: put into $X what is on the cache device now, as if the power went.
crash() {
	blockdev --flushbufs "$C"
	dd if="$C" of="$X" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
}

make_null O origin 16
make_null C local 12
make_null X crashed 12
./blockdata write "$O"
format
start
check -n 16384
settle
stop
start
is loaded 2
check -n 8192
crash
stop

# Active when the power went: even what is surely right is not trusted.
start nc '' "$O" "$X"
is loaded 3
is blocks_used 0
is blocks_warm 0
is bytes_valid 0
check -s 16384 -n 16384 -b 8
settle
valid=$(field bytes_valid)
((valid > 0)) || fail "nothing was cached"
stop
# Warm with the new content; nothing of the old table came back.
start nc '' "$O" "$X"
is loaded 2
is bytes_valid "$valid"
origin_mark
check
is bytes_valid "$(field bytes_valid)"
stop

# A crash right after the start, before anything was read.
start
crash
stop
start nc '' "$O" "$X"
is loaded 3
is blocks_used 0
check
