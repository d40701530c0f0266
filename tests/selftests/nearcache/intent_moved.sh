#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While this system has the cache open, another system gives the cache another witness, and marks
# the record on the old witness as moved. Then the cache device leaves. A load with the new witness
# would not find "left" on the old one. So this system must not change the moved record, and must
# fail the write, which no device records.
# kernels: 6.12
# cpus: 1
# allow-log: I/O error
. ./witnessed.sh

MODE=writethrough

make_witnessed
session
read -r number _ state <<<"$(./intent "$c" said "$w" 0)"
./intent "$c" say "$w" 0 "$number" 0 4
becomes cache "0 $(sectors "$c") error"
! put $((region * 5)) 8 2 2>/dev/null || fail "a write passed without a record"
same "said" "$(./intent "$c" said "$w" 0)" "$number 0 4"
get $((region * 5)) 8 1
# The other system gives the cache the old witness again: the next write is recorded there.
./intent "$c" say "$w" 0 "$number" 0 "$state"
put $((region * 5)) 8 2 || fail "write"
same "said" "$(./intent "$c" said "$w" 0)" "$number 0 2"
get $((region * 5)) 8 2
stop
