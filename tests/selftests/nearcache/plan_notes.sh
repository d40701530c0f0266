#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each processor notes its reads under a plan. The module applies the notes although no request asks
# for the state of the plan: after reads outside of the plan, the plan ends and its memory is freed.
# kernels: 6.12
BLOCK=65536
. ./planned.sh

# areas: print the number of large memory areas of plans.
areas() {
	grep -c nc_belady /proc/vmallocinfo || true
}

is_freed() {
	(($(areas) == 0))
}

fresh 16 9
ask plan-submit name=nc "range=16384@0,length=$((8 * MB)),start=$((8 * MB))" plan=commit=1,no-prefetch=1
says visits 2097152
(($(areas) > 0)) || fail "the plan has no memory: $(</proc/vmallocinfo)"
dd if=$NC of=/dev/null bs=4K count=1200 iflag=direct 2>/dev/null || fail "cannot read"
wait_for 30 is_freed || fail "memory of the plan: $(grep dm_nearcache /proc/vmallocinfo)"
get
says state 3
says memory 0

# A few notes, too few for a batch, are applied as well: the last read ends this plan.
plan_of 0 $BLOCK
visit 0 $BLOCK
wait_for 30 state_is 2 || fail "the plan did not end: $out"
says position 2
stop
