#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The drain is cut off within a block of the origin's fingerprint: some of its sectors are written, the
# others are not. The start goes on. If another host changed a sector, the start is refused.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

gated_stage 8 20
stage_restart
puts 2 0 32
stage_drained
gate hold origin write
puts 3 0 4
puts 4 4 4
puts 5 16 8
stage_commit >/dev/null
gate held origin 3
gate let origin 0
origin_fails
gate look origin 0 24
[[ $REPLY == *2x* && $REPLY != 2x24 ]] || fail "the drain was not cut off: $REPLY"
# A write that the power cut tore, too.
gate fill origin 5 16 3
stage_restart
gets 0 32 '3x4 4x4 2x8 5x8 2x8'
stage_stop

gate fill origin 9 20 1
log_mark
! dmsetup create --noudevsync st --table "$(stage_line)" 2>/dev/null || fail "a start on a changed origin"
log_since | grep -q 'another host changed it' || fail "$(log_since)"
dm_gone st
gate fill origin 2 20 1
stage_start
gate pass origin
stage_drained
gate look origin 0 32
expect '3x4 4x4 2x8 5x8 2x8'
