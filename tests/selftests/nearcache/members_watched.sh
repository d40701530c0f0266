#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One of several members fails while every event of the module is traced and a plan is active.
# Readers must get the right data, and the plan must be cleared. After a reload, which takes the
# member back, the cache must accept a new plan.
# kernels: 6.12
. ./several.sh
TRACE=/sys/kernel/tracing

watch() {
	trace_events "$1" nearcache
}

# lies error|linear: let the last member fail, or work again.
lies() {
	local size tail=''
	size=$(sectors "$under")
	[[ $1 == error ]] || tail="$under 0"
	echo "0 $size $1 $tail" >"$TMPDIR/table"
	dmsetup load --noudevsync slice "$TMPDIR/table" && dmsetup resume --noudevsync slice ||
		fail "the slice becomes $1"
}

# plan: submit a plan that reads the origin from start to end, many times. The cache has room for
# all of the origin and for the slots that a plan keeps free.
plan() {
	local words=() i
	for ((i = 0; i < 400; i++)); do
		words+=("range=start=0,length=3145728")
	done
	./genl plan-submit name=nc "${words[@]}" plan=commit=1 >/dev/null || fail "plan"
}

plan_is() {
	[[ $'\n'$(./genl plan-get name=nc)$'\n' == *$'\n'"plan.state=$1"$'\n'* ]]
}

bypassed() {
	check -b 8 >/dev/null
	[[ $(field state) == 1 ]]
}

make_null O origin 3
./blockdata write "$O"
several 4 4
under=${members[1]}
make_dm D slice "0 $(sectors "$under") linear $under 0"
members[1]=$D
behind "$D"
format_several
start
check
settle
written_down
is blocks_used 48
echo 8192 >$TRACE/buffer_size_kb
at_exit watch 0
watch 1
echo >$TRACE/trace
plan
plan_is 1 || fail "the plan does not run"
verify_begin -b 8 -a 1 -t 2
lies error
wait_for 30 bypassed || fail "not bypassed"
verify_end
above hit_errors 0
wait_for 10 plan_is 4 || fail "the plan did not end: $(./genl plan-get name=nc)"
grep -q "nearcache_mode.*too many" $TRACE/trace || fail "not traced"
lies linear
reload "$OPTIONS" || fail "reload"
is state 0
is blocks_warm 48
plan
plan_is 1 || fail "the plan does not run"
warm
# The member fails again: this time for short hits, which are traced as well.
lies error
check -b 8 -n 1024
above hit_errors 0
lies linear
watch 0
stop
