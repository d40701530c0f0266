#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin of a stage grows while the cache above is in use: resize lets both grow, and the log
# keeps its data.
# kernels: 6.12
# cpus: 1
# when: soak
. ./staged.sh

make_staged stage-grow 64 65536
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
./blockdata write /dev/mapper/nc -s 64000 -n 1024
good resize nc
[[ $out == *"has not grown"* ]] || fail "$out"
becomes slice "0 $(sectors "$base") linear $base 0"
good resize nc --dry-run -j
expect size $((64 << 20)) resized false
good resize nc -j
expect size $((64 << 20)) size_before $((32 << 20)) resized true
same "size of the stage" "$(sectors /dev/mapper/nc-stage)" $((128 << 10))
check -s 64000 -n 1024
./blockdata write /dev/mapper/nc -s 130000 -n 1024
good stage rate nc 0
good close nc
./blockdata read "$O" -s 130000 -n 1024 || fail "the origin lacks a write behind its former end"
./blockdata read "$O" -s 64000 -n 1024 || fail "the origin lacks a write from before it grew"
good open nc --cache "$C"
check -s 130000 -n 1024
good close nc
