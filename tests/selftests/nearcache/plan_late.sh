#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A plan ends while another one with many visits is being submitted, which holds the plan's lock.
# The first plan must reach its end state when the lock is free, although no read follows.
# kernels: 6.12
. ./cache.sh

MB=$((1 << 20))

state() {
	./genl plan-get name=nc | sed -n 's/^plan.state=//p'
}

is_over() {
	[[ $(state) == 2 ]]
}

# handing_over: submit 4 million visits over and over, without ever committing them.
handing_over() {
	while [[ ! -e $TMPDIR/enough ]]; do
		./genl plan-submit name=nc "range=16384@0,length=$((16 * MB)),start=0" >/dev/null || return 1
	done
}

fresh 16 9
for ((i = 0; i < $(times 8); i++)); do
	./genl plan-submit name=nc range=start=0,length=65536 plan=commit=1 >/dev/null || fail "no plan"
	same "state of the plan" "$(state)" 1
	rm -f "$TMPDIR/enough"
	handing_over &
	# Transferring the messages takes longer than this read.
	nap "0.$((RANDOM % 5 + 2))"
	check -n 128 -b 128 >/dev/null
	nap 0.2
	touch "$TMPDIR/enough"
	wait $! || fail "the visits are refused"
	wait_for 10 is_over || fail "round $i: the plan's state is $(state)"
done
