#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While the system writes the image of its memory, a job may evict no block: the resumed kernel still
# has the old map in memory. Readers run meanwhile, and the job goes on after the resume.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
. ./sleeping.sh

begin
make_swap "$(remote_backing)" $((64 * 2048))

# Pinned blocks get slots of blocks that are not pinned.
./genl range-add name=nc "range=start=$((28 * MB)),length=$((20 * MB)),label=kept,flags=1" >/dev/null || fail "pin"
./genl job-submit name=nc "range=start=$((28 * MB)),length=$((20 * MB))" job=bandwidth=$((2 * MB)) >/dev/null ||
	fail "job"
verify_begin -n "$HALF"
origin_mark
echo disk >/sys/power/state || fail "hibernation: $(dmesg | tail -n 5)"
./genl job-get name=nc job=id=1 >"$TMPDIR/job"
grep -q 'job.state=0' "$TMPDIR/job" || fail "the job ended meanwhile: $(<"$TMPDIR/job")"
verify_end >/dev/null
check -n "$HALF"
! log_since | grep 'starting cold' || fail "dropped"

over() {
	./genl job-get name=nc job=id=1 >"$TMPDIR/job"
	! grep -q 'job.state=0' "$TMPDIR/job"
}
wait_for 60 over || fail "the job does not go on: $(<"$TMPDIR/job")"
grep -q 'job.state=1' "$TMPDIR/job" || fail "the job: $(<"$TMPDIR/job")"
settle
check
is state 0
stop
start nc "2 cache_timeout 0"
is loaded 2
check
