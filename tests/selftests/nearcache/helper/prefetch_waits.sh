#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A prefetch job of twice as much data as the cache holds waits until the reader comes, however late,
# and then runs ahead of it: the reader finds all data in the cache. A job with a deadline ends
# incomplete, and jobs, --wait and the exit code say so.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./shards.sh

shards_made 24 10
for i in {100..227}; do
	head -c 128k /dev/urandom >"$M/s$i.tar"
done
shards_cached

# Without a reader the job ends at its deadline.
run prefetch nc s*.tar --deadline 2 --wait
[[ $rc == 4 && $err == *"waits until data in the cache has been read"* && $err == *" left out "* ]] ||
	fail "--deadline: exit $rc, $err"
job_is incomplete || fail "not incomplete: $out"
run invalidate nc
origin_mark
good prefetch nc s*.tar
wait_for 30 job_is waiting || fail "does not wait: $out"
expect running 1
good jobs nc
[[ ! $out == *100.0\ %* ]] || fail "nothing is missing: $out"
missed=$(field misses nc) wasted=$(field prefetched_wasted_bytes nc)
for i in {100..227}; do
	wait_for 60 is_cached s$i.tar || fail "s$i.tar does not come ahead of its reader: $out"
	direct s$i.tar
done
wait_for 30 job_is 'done' || fail "not done: $out"
same "left" "$(job_left)" 0
good jobs nc
[[ $(tail -1 <<<"$out") == *100.0\ %* ]] || fail "not all: $out"
same "misses" "$(field misses nc)" "$missed"
same "wasted" "$(field prefetched_wasted_bytes nc)" "$wasted"
# Each byte came from the origin once; the rest is for metadata of the file system.
(($(origin_delta) < 17 << 20)) || fail "$(origin_delta) bytes read from the origin"
