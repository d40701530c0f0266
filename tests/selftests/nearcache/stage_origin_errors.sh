#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A write of the drain fails, or the flush behind it: the whole epoch is written again, before anything
# of the next epoch, and is not marked before.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# drain_writes: wait until all writes of the epoch are held; print them in order.
drain_writes() {
	gate held origin 5
	tr ' ' '\n' <<<"${REPLY//write /}" | sort | tr '\n' ' '
}

# not_marked: fail if the epoch is marked.
not_marked() {
	same "drained epoch ($n)" "$(stage drained_epoch)" $((epoch - 1))
}

gated_stage 8 20
retries=0
gate hold origin write
gate hold origin flush
# An attempt follows after a second: only 'make soak' tries each write.
for ((n = ${SOAK:-0} ? 0 : 4; n < 6; n++)); do
	for ((at = 0; at < 500; at += 100)); do
		puts $((2 * n + 2)) $at 8
	done
	epoch=$(stage_commit)
	puts $((2 * n + 3)) 0 4
	stage_commit >/dev/null
	writes=$(drain_writes)
	if ((n < 5)); then
		gate let origin $n fail
		gate let origin all
	else
		gate let origin all
		gate held origin 1
		expect "flush 0+16384"
		gate let origin 0 fail
	fi
	# The first block once more, to learn the reason.
	gate held origin 1
	expect 'write 0+1'
	gate let origin 0
	again=$(drain_writes)
	same "writes of the second attempt ($n)" "$again" "$writes"
	same state "$(stage state)" 1
	same origin_error "$(stage origin_error)" 5
	not_marked
	gate let origin all
	gate held origin 1
	not_marked
	gate let origin 0
	# The next epoch.
	gate held origin 1
	expect 'write 0+4'
	same "drained epoch ($n)" "$(stage drained_epoch)" $epoch
	gate let origin 0
	gate held origin 1
	gate let origin 0
	stage_drained
	same state "$(stage state)" 0
	same origin_error "$(stage origin_error)" 0
	same retries "$(stage retries)" $((retries += 1))
	gate look origin 0 108
	expect "$((2 * n + 3))x4 $((2 * n + 2))x4 1x92 $((2 * n + 2))x8"
done
