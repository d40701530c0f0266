#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Trace events of a stage: the kind of each commit, and a drain of each epoch.
# kernels: 6.12
# cpus: 1
. ./stage.sh
TRACE=/sys/kernel/tracing

watch() {
	trace_events "$1" nearcache/nearcache_stage_commit nearcache/nearcache_stage_drain
}

# put SECTOR BYTES COUNT: write to the stage without a flush.
put() {
	dd if=/dev/zero of=/dev/mapper/st bs="$2" count="$3" seek="$1" oflag=direct,seek_bytes 2>/dev/null || fail "write"
}

# traced PATTERN: print the number of events that match.
traced() {
	grep -cE -- "$1" $TRACE/trace
}

echo 1024 >$TRACE/buffer_size_kb
echo >$TRACE/trace
at_exit watch 0
watch 1
fresh_stage 16 24
put 1M 4096 1
first=$(stage_commit)
put 2M 4096 2
second=$(stage_commit)
put 4M 1M 2
third=$(stage_commit)
same epochs "$second $third" "$((first + 1)) $((first + 2))"
stage_drained
same "embedded commits" "$(traced "stage_commit: .* epoch=$first blocks=2 result=2 latency=[0-9]+")" 1
same "checked commits" "$(traced "stage_commit: .* epoch=$second blocks=3 result=1 latency=[0-9]+")" 1
same "ordinary commits" "$(traced "stage_commit: .* epoch=$third blocks=51[3-9] result=0 latency=[0-9]+")" 1
for epoch in $first $second $third; do
	same "drains of epoch $epoch" "$(traced "stage_drain: .* epoch=$epoch .* result=0 ")" 1
done
