#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log fails reads: the stage reads marked data on the origin, and other reads fail. The drain fails,
# and all later writes with it. When the log works again, a start finds all committed writes.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

gated_stage 8 20
puts 2 0 64
stage_drained
gate fail log read
gate seen origin
gets 0 64 2x64
gets 60 8 '2x4 1x4'
gate pass log
same log_read_bytes "$(stage log_read_bytes)" 0
gets 0 64 2x64
same log_read_bytes "$(stage log_read_bytes)" $((64 * 512))

origin_fails
puts 3 0 32
epoch=$(stage_commit)
gate fail log read
gate get "$NC" 0 64
expect EIO
gets 32 64 '2x32 1x32'
gate pass origin
stage_until state 2
gate put "$NC" 4 0 8
expect EIO
gate flush f "$NC"
ends f EIO
gets 32 64 '2x32 1x32'
same "drained epoch" "$(stage drained_epoch)" $((epoch - 1))
gate look origin 0 64
expect 2x64
stage_stop
gate pass log
stage_start
gets 0 64 '3x32 2x32'
stage_drained
gate look origin 0 64
expect '3x32 2x32'
same state "$(stage state)" 0
