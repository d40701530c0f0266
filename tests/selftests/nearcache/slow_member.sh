#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One of two cache devices does not answer, and a hit hangs there: probes of this device must show it,
# whichever it is, though the other device answers its probes. Then the device answers again.
# kernels: 6.12
# cpus: 1
. ./gate.sh

# hangs NAME: hold all reads of this cache device until the state is degraded.
hangs() {
	gate hold "$1" read
	gate read hit "$NC" 0 1024
	gate until nc state = 3
	now reason reason
	((reason == 5)) || fail "reason is $reason"
	gate busy hit
	gets 1024 1024 1x1024
	gate pass "$1"
	gate let "$1" all
	ends hit 1x1024
	gate until nc state = 0
}

gates 8 16
gate device second 16
second=$REPLY
nearcache create fmt --cache "$C" --cache "$second" --origin "$O" --block-size 64K --format-only --force \
	>/dev/null || fail "create"
OPTIONS="4 cache_timeout 300 member $second"
start
at_exit gate_open
at_exit gate pass second
at_exit gate let second all
# Each call reads eight blocks, four of each device.
cached 0 1024
cached 1024 1024
hangs second
hangs cache
stop
