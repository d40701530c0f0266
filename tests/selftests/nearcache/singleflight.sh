#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Readers of the same uncached data must share one read of the origin.
# kernels: 6.1
. ./cache.sh

make_null O origin 8 completion_nsec=5000000
make_null C local 16
./blockdata write "$O"
format
start

# All threads read the same 64 KiB at the same moment.
origin_mark
check -n 8192 -b 128 -t 16 -c
settle
same "origin bytes, 16 readers of the same" "$(origin_delta)" $((8192 * 512))
above joins 0
is bytes_valid $((8192 * 512))

# Threads read overlapping ranges of the second half, then all of the second half.
origin_mark
check -s 8192 -b 1:300 -a 1 -r "$(times 20)" -t 12
check -s 8192 -b 8 -t 4
settle
same "origin bytes, overlapping readers" "$(origin_delta)" $((8192 * 512))
is bytes_valid $((16384 * 512))
is fill_origin_bytes $((16384 * 512))

origin_mark
check -b 256 -t 4
same "origin bytes when all is cached" "$(origin_delta)" 0
