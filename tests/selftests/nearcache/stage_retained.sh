#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is on the origin stays readable in the log; after a start only with keep_retained, as another host
# may have written to the origin meanwhile.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# origin_reads_are NUMBER: compare the reads of the origin since the last call.
origin_reads_are() {
	gate seen origin
	same "reads of the origin" "${REPLY%% *}" "$1"
}

gated_stage 8 20 'keep_retained 1'
puts 2 2048 256
stage_drained
gate seen origin
gets 2048 256 2x256
origin_reads_are 0
stage_restart 'keep_retained 1'
gate seen origin
gets 2048 256 2x256
origin_reads_are 0
(($(stage retained_bytes) >= 128 << 10)) || fail "$(stage retained_bytes) bytes are retained"
# A later epoch goes on behind what is retained.
puts 3 2100 8
stage_drained
gets 2048 256 '2x52 3x8 2x196'

stage_stop
gate fill origin 9 2200 8
stage_start
same retained_bytes "$(stage retained_bytes)" 0
gets 2048 256 '2x52 3x8 2x92 9x8 2x96'
# What is not on the origin yet is kept in any case.
origin_fails
puts 4 2200 4
stage_restart
gets 2196 12 '2x4 4x4 9x4'
gate pass origin
stage_drained
gate look origin 2196 12
expect '2x4 4x4 9x4'
