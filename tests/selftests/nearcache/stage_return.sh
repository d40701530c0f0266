#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The origin of a running stage goes away and returns as another device. A reload takes it and keeps all
# writes that were acknowledged. It is refused if another host changed the origin, or if the log has
# failed with writes that are not committed.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# takes DEVICE: reload the stage with this origin.
takes() {
	O=$1
	dmsetup load st --table "$(stage_line)" && dmsetup suspend --noflush --nolockfs st && dmsetup resume st
}

gated_stage 8 20
stage_stop
gate_origin=$O first='' second=''
linear="0 $(sectors "$O") linear $gate_origin 0"
make_dm first first "$linear"
make_dm second second "$linear"
at_exit stage_stop
O=$first
stage_start
becomes first "0 $(sectors "$O") error"
puts 2 0 8
puts 3 100 4
stage_commit >/dev/null
stage_until state 1
puts 4 4 8
# The epoch that cannot be drained writes a part of the block with this sector.
gate fill origin 9 97 1
log_mark
! takes "$second" 2>/dev/null || fail "another host changed the origin, and the stage starts"
log_since | grep -q "another host changed it: sector 97" || fail "$(log_since)"
gate fill origin 1 97 1
gate fail origin read 96 8
log_mark
! dmsetup resume st 2>/dev/null || fail "the stage starts, and its origin cannot be read"
log_since | grep -q "cannot read sector 96" || fail "$(log_since)"
gate pass origin
dmsetup resume st || fail "resume"
gets 0 110 '2x4 4x8 1x88 3x4 1x6'
stage_drained
gate look origin 0 110
expect '2x4 4x8 1x88 3x4 1x6'

# The log fails after the new table was loaded.
becomes first "$linear"
puts 5 200 8
O=$first
dmsetup load st --table "$(stage_line)" || fail "load"
gate fail log write
gate put "$NC" 6 300 8
expect EIO
log_mark
dmsetup suspend --noflush --nolockfs st || fail "suspend"
! dmsetup resume st 2>/dev/null || fail "a table starts without acknowledged writes"
log_since | grep -q "writes are not committed: remove the device" || fail "$(log_since)"
! dmsetup resume st 2>/dev/null || fail "the second time it starts"
gate pass log
! dmsetup load st --table "$(stage_line)" 2>/dev/null || fail "a further table is accepted"
stage_stop
stage_start
stage_drained

# Another log, after a write that only the first one has.
gate device other 20 flush fua
other=$(L=$REPLY stage_line)
./stage_format "$REPLY" "$(sectors "$O")" 2 || fail "stage_format"
dmsetup load st --table "$other" || fail "load of another log"
origin_fails
puts 7 400 8
log_mark
dmsetup suspend --noflush --nolockfs st || fail "suspend"
for ((i = 0; i < 2; i++)); do
	! dmsetup resume st 2>/dev/null || fail "another log hides a write"
done
log_since | grep -q "drain it first" || fail "$(log_since)"
! dmsetup load st --table "$other" 2>/dev/null || fail "another log is accepted"
dmsetup load st --table "$(stage_line)" && dmsetup resume st || fail "resume"
gets 400 8 7x8
gate pass origin
stage_drained
dmsetup load st --table "$other" && dmsetup suspend st && dmsetup resume st || fail "another log is refused"
gets 400 8 7x8
