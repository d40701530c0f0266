#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The scanner of the guest's kernel log must find every kind of damage. In 'make soak', also the
# harness's other tests, which boot twelve guests.
# kernels: 6.12
# timeout: 240
unset T VM_KERNELS
if [[ ${SOAK:-} ]]; then
	exec "$TOP/tests/vm/selftest"
fi
exec "$TOP/tests/vm/selftest" log_scan
