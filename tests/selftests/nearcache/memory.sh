#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fills hold no more memory than fill_memory: a read whose fill would exceed this limit bypasses.
# kernels: 6.1
# cpus: 1
. ./cache.sh

make_null O origin 24
make_null base local 32
./blockdata write "$O"
# Slow writes to the cache device let fills hold their memory longer.
make_dm C slow "0 $(sectors "$base") delay $base 0 0 $base 0 30"
format
start nc '2 fill_memory 1048576'
is fill_memory_max 1048576
check -b 8:256 -a 8 -r "$(times 30)" -t 16
check -b 2048 -t 2
above bypass_memory 0
above fill_memory_peak 0
(($(field fill_memory_peak) <= 1048576)) || fail "the peak is $(field fill_memory_peak)"
settle
is fill_memory 0
# With a larger fill_memory every read fills.
dmsetup load --noudevsync nc --table "$(line '2 fill_memory 67108864')"
dmsetup resume --noudevsync nc || fail "resume"
check -b 1024
settle
is bytes_valid $((24 << 20))
is fill_memory 0
check
(($(field fill_memory_peak) <= 67108864)) || fail "the peak is $(field fill_memory_peak)"
stop

# The smallest fill_memory suffices for long reads with large blocks.
format "$C" "$O" 1M
start nc '2 fill_memory 1048576'
check -b 2048
settle
above fills 0
above bytes_valid 0
(($(field fill_memory_peak) <= 1048576)) || fail "the peak is $(field fill_memory_peak)"
