#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# FLUSH and FUA end when what was written before is durable in the log, after one commit; a flush with
# nothing to commit writes nothing. What was flushed is there after a start from the log of that moment.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# log_saw 'WRITES FLUSHES FUA': compare the requests to the log since the last call.
log_saw() {
	local writes flushes fua
	gate seen log
	read -r _ writes flushes _ _ fua <<<"$REPLY"
	same "writes, flushes and FUA of the log" "$writes $flushes $fua" "$1"
}

# flush: flush the stage.
flush() {
	gate flush f "$NC"
	ends f 'done'
}

gated_stage 8 20
origin_fails
gate seen log
commits=$(stage commits)
puts 2 0 64
flush
log_saw '2 1 0'
flush
log_saw '0 0 0'
same commits "$(stage commits)" $((commits + 1))
gate write w "$NC" 3 100 8 sync
ends w 'done'
log_saw '2 1 0'
same commits "$(stage commits)" $((commits + 2))

# The commit waits for the data of its epoch, the flush for the commit.
gate hold log write
gate write w "$NC" 4 200 8
gate held log 1
data=$REPLY
gate flush f "$NC"
gate busy f
gate held log 1
expect "$data"
gate busy w
gate let log 0
ends w 'done'
gate held log 1
gate busy f
log_saw '2 1 0'
# A flush that comes now shares no commit that began before the next write.
gate write w "$NC" 5 300 8
gate held log 2
gate flush g "$NC"
gate let log 0
ends f 'done'
gate busy g
gate let log 0
ends w 'done'
gate held log 1
gate busy g
gate let log 0
ends g 'done'
gate pass log

# The node is lost: the log is what it was when the flush ended.
gate keep log
puts 6 0 64
stage_commit >/dev/null
stage_stop
gate restore log
stage_start
gets 0 64 2x64
gets 100 8 3x8
gets 200 8 4x8
gets 300 8 5x8
gate pass origin
stage_drained
gate look origin 0 64
expect 2x64
gate look origin 300 9
expect '5x8 1x1'
