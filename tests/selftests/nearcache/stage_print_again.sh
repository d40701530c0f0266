#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The drain fails after it has written a sector whose checksum is unknown, and whose old content could not
# be read: the next attempt must not take the new content for the old one, because the origin may still
# lose it. After a power cut of both devices, a start must not report a changed origin.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

gated_stage 8 20
puts 2 0 8
stage_drained
gate trim t "$NC" 0 8
ends t 'done'
stage_drained
gate keep origin
# The first attempt writes the sectors, but cannot read them, and fails elsewhere.
gate fail origin read 0 8
gate hold origin write 0 8
gate fail origin write 2048 8
puts 3 0 8
puts 3 2048 8
stage_commit >/dev/null
gate held origin 1
expect 'write 0+8'
gate let origin 0
# The drain repeats this write to get the error: the attempt has failed.
gate held origin 1
expect 'write 0+1'
gate pass origin
gate hold origin write
gate let origin 0
# The second attempt has recorded its checksums before it writes.
gate held origin 2
same retries "$(stage retries)" 1
gate keep log
gate pass origin
gate fail origin write
gate let origin all fail
stage_stop

gate pass origin
gate restore log
gate restore origin
stage_start
gets 0 8 3x8
stage_drained
gate look origin 0 8
expect 3x8
gate look origin 2048 8
expect 3x8
