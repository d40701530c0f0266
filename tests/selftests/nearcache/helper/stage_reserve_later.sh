#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# open --reserve begins the reservation for an existing log, and open --no-reserve ends it. The log keeps
# its writes, and records the choice.
# kernels: 6.12
# cpus: 1
# timeout: 300
# allow-log: reservation conflict
. ./cache.sh
. ./command.sh
. ./reservation.sh

make_volume 64
make_null C local 24
make_null L log 32
at_exit gone
open=(open nc --cache "$C" --origin "$O")
good create nc --cache "$C" --block-size 64K --force --stage "$L" --origin "$O" --rate 64K
./blockdata write /dev/mapper/nc -n 16384 -g 2
# The stage runs, without its cache.
dmsetup remove --noudevsync nc
bad 5 "the stage 'nc-stage' runs" "${open[@]}" --reserve
bad 1 "leave out --reserve" "${open[@]}" --drop-unreadable --reserve --no-reserve
bad 1 "opens the origin without a stage" "${open[@]}" --abandon-stage --reserve
good "${open[@]}"
good close nc --keep
bad 1 "does not reserve its origin" "${open[@]}" --preempt
./reserve "$O2" register 0x77 || fail "the other node cannot register"
bad 5 "has registered the key 0x0000000000000077" "${open[@]}" --reserve
./reserve "$O2" forget 0x77
good "${open[@]}" --reserve --dry-run -j
[[ $(json reservation_key) == 0x* ]] || fail "a dry run shows no key: $out"
other_writes || fail "a dry run reserves the origin"
good "${open[@]}" --reserve --rate 64K
! other_writes || fail "the other node writes after open --reserve"
# As after a run that was killed when it had made the stage.
dmsetup remove --noudevsync nc
good "${open[@]}" --reserve
good close nc --keep
good "${open[@]}" --rate 64K -j
key=$(json reservation_key)
! other_writes || fail "the log does not record --reserve"
good close nc --keep

# The reservation is lost: --no-reserve must not hide that another node may have written.
./reserve "$O2" register 0x77 && ./reserve "$O2" preempt 0x77 "$key" || fail "no preemption"
bad 5 "0x0000000000000077" "${open[@]}" --no-reserve
./reserve "$O2" forget 0x77
bad 4 "is lost" "${open[@]}" --no-reserve
good "${open[@]}" --preempt --rate 64K
good close nc --keep
good "${open[@]}" --no-reserve --rate 64K -j
expect reservation_key null
other_writes || fail "--no-reserve does not release the origin"
good close nc --keep
good "${open[@]}"
other_writes || fail "the log does not record --no-reserve"
good stage drain nc --wait
./blockdata read "$O" -n 16384 -g 2 >/dev/null || fail "the origin lacks writes"
