#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A plan ends while a request submits another plan with many visits and holds the plan lock. The
# first plan must reach the state "over" once the lock is free, although no read follows.
# kernels: 6.12
# cpus: 1
. ./cache.sh

MB=$((1 << 20))

state() {
	./genl plan-get name=nc | sed -n 's/^plan.state=//p'
}

is_over() {
	[[ $(state) == 2 ]]
}

# handing_over: submit 4 million visits repeatedly, and never commit them.
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
	# The submission takes longer than this last read of the plan, so the lock is held then.
	nap "0.$((RANDOM % 5 + 2))"
	check -n 128 -b 128 >/dev/null
	nap 0.2
	touch "$TMPDIR/enough"
	wait $! || fail "the visits are refused"
	wait_for 10 is_over || fail "round $i: the plan's state is $(state)"
done
