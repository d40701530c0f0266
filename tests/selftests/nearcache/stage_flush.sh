#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# FLUSH and FUA end when the log has all earlier writes durably, after one commit. The commit of a
# small epoch sends one flush, and no write if the epoch is a single write. A flush of an empty epoch
# sends nothing. A start from the log of that moment finds all flushed writes with intact data.
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

# The first blocks of the origin have a fingerprint, which needs writes of the superblock.
gated_stage 8 20
origin_fails
gate seen log
commits=$(stage commits)
puts 2 2048 64
flush
log_saw '1 1 0'
flush
log_saw '0 0 0'
puts 2 2048 32
puts 2 2112 32
flush
log_saw '3 1 0'
puts 2 2048 256
flush
log_saw '2 1 1'
same commits "$(stage commits)" $((commits + 3))
gate write w "$NC" 3 2148 8 sync
ends w 'done'
log_saw '1 1 0'
same commits "$(stage commits)" $((commits + 4))

# The commit waits for the data of its epoch, the flush for the commit.
gate hold log write
gate write w "$NC" 4 2248 200
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
log_saw '2 1 1'
# A flush that comes now shares no commit that began before the next write.
gate write w "$NC" 5 2348 8
gate held log 2
read -r _ _ _ data <<<"$REPLY"
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

# The node loses its power just after the end of a flush.
gate keep log
puts 6 2048 64
stage_commit >/dev/null
stage_stop
gate restore log
stage_start
gets 2048 256 '2x100 3x8 2x92 4x56'
gets 2248 200 '4x100 5x8 4x92'
# The drive has lost data of the last commit, as if its flush had not ended.
stage_stop
gate restore log
gate fill log 9 "${data%+*}" 1
stage_start
gets 2248 200 4x200
stage_restart
gets 2248 200 4x200
puts 7 2248 8
stage_restart
gets 2248 200 '7x8 4x192'
gate pass origin
stage_drained
gate look origin 2048 512
expect '2x100 3x8 2x92 7x8 4x192 1x112'
