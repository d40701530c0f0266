#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The reader of the guest's kernel log finds every kind of damage. In a soak also the
# rest of the harness' own tests, which boot ten guests.
# kernels: 6.12
# timeout: 240
unset T VM_KERNELS
if [[ ${SOAK:-} ]]; then
	exec "$TOP/tests/vm/selftest"
fi
exec "$TOP/tests/vm/selftest" log_scan
