#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Remove the device right after its readers have ended, with fills in flight: no published data may
# be lost, and the next start must find an intact slot table.
. ./cache.sh

make_null O origin 16
make_null C local 24 completion_nsec=3000000
./blockdata write "$O"
format
for ((i = 1; i <= $(times 4); i++)); do
	start
	is loaded $((i == 1 ? 1 : 2))
	./blockdata read /dev/mapper/nc -b 1:128 -a 1 -r 12 -t 8 -S $((i * 100)) || fail "round $i"
	# The readers have ended, but their fills are still in flight.
	valid=$(field bytes_valid)
	stop
	start
	(($(field bytes_valid) >= valid)) || fail "round $i: valid bytes lost"
	is blocks_warm "$(field blocks_used)"
	is slots_dropped 0
	stop
done
start
check -b 512 -t 2
origin_mark
check
same "origin bytes" "$(origin_delta)" 0

# An open device cannot be removed, and continues to work.
verify_begin -b 8 -r 100
! dmsetup remove --noudevsync nc 2>/dev/null || fail "removed while it is open"
verify_end
