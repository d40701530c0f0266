#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The record on the witness was moved while this system had the cache open: another system gave the cache
# another witness. Then the cache device leaves. "left" in place of the moved record would not be found by
# a load with the new witness: so the record stays as it is, and the write that nothing records fails.
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
# The other system makes it the cache's witness again: the next write is recorded there.
./intent "$c" say "$w" 0 "$number" 0 "$state"
put $((region * 5)) 8 2 || fail "write"
same "said" "$(./intent "$c" said "$w" 0)" "$number 0 2"
get $((region * 5)) 8 2
stop
