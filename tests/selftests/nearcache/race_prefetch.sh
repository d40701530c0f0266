#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two prefetch jobs bring parts of one block, and between them comes a read or an error. A block
# counts as read if a reader joined its first fill. It counts as unread if one fill failed and
# another brought data that no reader has used.
# kernels: 6.12
# cpus: 1
# allow-log: I/O error
. ./gate.sh

# job HELD FIRST: submit a job for half a block, 64 sectors from FIRST on; wait until the gate holds
# HELD requests.
job() {
	./genl job-submit name=nc "range=start=$(($2 * 512)),length=32768" >/dev/null || fail "job-submit"
	gate held origin "$1"
}

# A reader joins the first fill. Then the second fill begins, in a slot that still has no valid data.
joined() {
	local joins used
	next_block
	now joins joins
	now used prefetched_used_bytes
	gate hold origin read
	job 1 "$at"
	gate read early "$NC" "$at" 64
	gate until nc joins '>' "$joins"
	job 2 $((at + 64))
	gate_open
	ends early 1x64
	gate until nc fills_in_flight = 0
	gets "$at" 128 1x128
	more prefetched_used_bytes "$used" 0
}

# The first fill fails while the second one waits for the origin.
failed() {
	local errors used
	next_block
	now errors fills_failed_origin
	now used prefetched_used_bytes
	gate hold origin read
	job 1 "$at"
	job 2 $((at + 64))
	gate let origin 0 fail
	gate until nc fills_failed_origin '>' "$errors"
	# The first job tries again after a second: by then the second job has brought its data.
	gate_open
	gate until nc fills_in_flight = 0
	gets $((at + 64)) 64 1x64
	gate until nc prefetched_used_bytes '>' "$used"
}

gates
between read-only
joined
failed
