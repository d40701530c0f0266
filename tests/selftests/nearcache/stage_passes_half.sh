#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log fails between the two superblock writes of a return: writes still go to the origin. After a crash
# of the node, a start needs a flush of the origin, although the newest copy does not say that writes were
# passed; also if the other copy is damaged.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

return_failed() {
	log_since | grep -q 'failed a write .*: writes go to the origin from now on'
}

# needs_flush TEXT: a start fails if the origin fails its flush, also for the second time.
needs_flush() {
	local i
	gate fail origin flush
	for i in 1 2; do
		! dmsetup create --noudevsync st --table "$(stage_line)" 2>/dev/null || fail "$1: start $i without a flush"
		dm_gone st
	done
	gate pass origin
}

gated_stage 8 20 'max_behind 1048576 on_full writethrough'
begin_to_pass 2 w
log_mark
gate break log write 1
gate pass origin
gate let origin all
ends w 'done'
wait_for 60 return_failed || fail "the return has not failed: $(dmsetup status --noflush st)"
stage_mode 2
# Readers see this write, and the origin may lose it.
puts 3 0 8
gate keep log
gate pass log
stage_stop
gate restore log
needs_flush "one copy"
stage_start
gets 0 8 3x8
stage_stop

# The damaged copy may have had the flag.
gate fill log 9 8 1
needs_flush "a damaged copy"
stage_start
gets 0 8 3x8
# The start has repaired the copy.
stage_stop
gate fail origin flush
stage_start
gate pass origin
