#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A job that reads at a peer may wait for readers for any time. When the peer's device is removed
# meanwhile, the job ends and closes the device, so that its driver can free it.
# cpus: 1
. ./cache.sh

MB=$((1 << 20))

# job_is STATE [JOB]: is the job (2) in this state, and no read in flight? 1: done, 3: waits, 4: incomplete.
job_is() {
	out=$(./genl job-get name=nc job=id="${2:-2}") || fail "job-get"
	[[ $out == *"job.state=$1"$'\n'* && $out == *"job.flying=0"* ]]
}

# users: print how many files have null_blk devices open, and how many devices there are, together.
users() {
	cat /sys/module/null_blk/refcnt
}

make_null O origin 16
make_null C local 9
make_null P peer 16
./blockdata write "$O"
./blockdata write "$P"
format
start
# After a first job the policy retains the blocks that are read first. They fill the cache.
./genl job-submit name=nc range=start=0,length=4096 >/dev/null || fail "job-submit"
wait_for 30 job_is 1 1 || fail "job 1: $out"
check >/dev/null
settle
before=$(users)
./genl job-submit name=nc "range=start=$((13 * MB)),length=$MB" job=peer-fd=9 9<"$P" >/dev/null || fail "job-submit"
wait_for 60 job_is 3 || fail "the job does not wait: $out"
same "users while the job waits" "$(users)" $((before + 1))
echo 0 >"$NULLB/peer/power"
wait_for 20 job_is 4 || fail "the job goes on without the peer's device: $out"
same "users after the end of the job" "$(users)" "$before"
check
