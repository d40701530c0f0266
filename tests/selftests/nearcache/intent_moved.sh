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

make_null O origin 16
make_null c local 24
make_null w witness 1
make_dm C cache "0 $(sectors "$c") linear $c 0"
make_dm W witness "0 $(sectors "$w") linear $w 0"
session
read -r number _ state <<<"$(./intent "$c" said "$w" 0)"
./intent "$c" say "$w" 0 "$number" 0 4
dmsetup suspend --noflush --nolockfs cache && dmsetup load cache --table "0 $(sectors "$c") error" &&
	dmsetup resume cache || fail "the cache device does not leave"
! ./blockdata write "$NC" -s $((region * 5)) -n 8 -g 2 2>/dev/null || fail "a write passed without a record"
same "said" "$(./intent "$c" said "$w" 0)" "$number 0 4"
get $((region * 5)) 8 1
# The other system makes it the cache's witness again: the next write is recorded there.
./intent "$c" say "$w" 0 "$number" 0 "$state"
./blockdata write "$NC" -s $((region * 5)) -n 8 -g 2 || fail "write"
same "said" "$(./intent "$c" said "$w" 0)" "$number 0 2"
get $((region * 5)) 8 2
stop
