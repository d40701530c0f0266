#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Jobs fill the cache and the prefetch reserve and wait for readers. However long they wait, no
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
for id in 1 2 3; do
	./genl job-submit name=nc "range=start=$((id == 1 ? 0 : (10 + id) * MB)),length=$((id == 1 ? 12 * MB : MB))" \
		>/dev/null || fail "job-submit"
	wait_for 60 waits "$id" || fail "job $id does not wait: $out"
done
same "free slots" "$(($(field blocks) - $(field blocks_used)))" 0
since=$SECONDS
wait_for 30 long_since
for id in 1 2 3; do
	waits "$id" || fail "job $id does not wait any more: $out"
	same "left out by job $id" "$(value job.left)" 0
done
is prefetched_wasted_bytes 0
check
