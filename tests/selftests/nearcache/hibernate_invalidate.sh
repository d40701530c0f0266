#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A read-only cache was bypassed when the system went to sleep. So the module does not compare it
# with its cache device after the resume, and can record no invalidation, also if a user tries
# again: each one fails with EIO. The next load by this dm device is cold.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# allow-log: I/O error
. ./sleeping.sh

bypassed() {
	./blockdata read /dev/mapper/nc -n "$HALF" >/dev/null || fail "wrong data"
	[[ $(field state) == 1 ]]
}

begin
good=$(dmsetup table local)
becomes local "0 $(sectors "$C") error"
wait_for 60 bypassed || fail "not bypassed"
becomes local "$good"
image

./blockdata write "$O" -s 8192 -n 8 -g 2
! said=$(dmsetup message nc 0 invalidate all 2>&1) || fail "recorded"
[[ $said == *"Input/output error"* ]] || fail "invalidate: $said"
log_since | grep -q "invalidation not recorded: attach or format" || fail "no message: $(log_since)"
reload "2 cache_timeout 0" || fail "reload"
is state 0
is loaded 3
./blockdata read /dev/mapper/nc -s 8192 -n 8 -g 2 || fail "old data"
stop
