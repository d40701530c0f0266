#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In a full cache jobs fill the prefetch reserve and wait for readers. However long they wait, no
# unread block of an unfinished job is evicted for another job.
# kernels: 6.12
# cpus: 1
. ./cache.sh

MB=$((1 << 20))

# job ID: ask about a job; the answer is in $out.
job() {
	out=$(./genl job-get name=nc job=id="$1") || fail "job-get"
}

# value NAME: print the value of NAME in $out.
value() {
	sed -n "s/^$1=//p" <<<"$out"
}

waits() {
	job "$1"
	[[ $(value job.state) == 3 && $(value job.flying) == 0 ]]
}

# The module lets a job that has waited for 5 s take slots of jobs that are over.
long_since() {
	((SECONDS >= since + 7))
}

make_null O origin 16
make_null C local 9
./blockdata write "$O"
format
start
is_over() {
	job 1
	[[ $(value job.state) == 1 ]]
}
# After a first job the policy retains the blocks that are read first. They fill the cache.
./genl job-submit name=nc range=start=0,length=4096 >/dev/null || fail "job-submit"
wait_for 30 is_over || fail "job 1: $out"
check >/dev/null
settle
for id in 2 3 4; do
	./genl job-submit name=nc "range=start=$(((11 + id) * MB)),length=$MB" >/dev/null || fail "job-submit"
	wait_for 60 waits "$id" || fail "job $id does not wait: $out"
done
job 2
(($(value job.fetched))) || fail "the reserve is not used: $out"
since=$SECONDS
wait_for 30 long_since
for id in 2 3 4; do
	waits "$id" || fail "job $id does not wait any more: $out"
	same "left out by job $id" "$(value job.left)" 0
done
is prefetched_wasted_bytes 0
check
