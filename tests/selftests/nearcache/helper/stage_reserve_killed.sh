#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# open --reserve and open --no-reserve are killed between two of their steps. The next run completes them,
# and no write is lost.
# kernels: 6.12
# cpus: 1
# when: soak
# allow-log: reservation conflict
. ./cache.sh
. ./command.sh
. ./reservation.sh

# traced WORDS...: open nc, and close it again; $TMPDIR/WORDS gets the trace of its system calls.
traced() {
	strace -qq -o "$TMPDIR/$*" -e trace=ioctl,pwrite64,fsync nearcache "${open[@]}" "$@" \
		>"$TMPDIR/said" 2>&1 || fail "open $*: $(<"$TMPDIR/said")"
	good close nc --keep
}

# killed_at CALL PATTERN WORDS...: open nc, and kill the run at its first CALL that matches PATTERN and
# is not before the change of the reservation.
killed_at() {
	local number
	number=$(awk -v call="^$1\\\\(" -v pattern="$2" '
		$0 ~ call { n++ }
		/IOC_PR_REGISTER/ { begun = 1 }
		begun && $0 ~ call && $0 ~ pattern { print n; exit }' "$TMPDIR/${*:3}")
	[[ $number ]] || fail "no call $1 with $2: $(tail -n 30 "$TMPDIR/${*:3}")"
	injected "$1:signal=SIGKILL:when=$number" "${open[@]}" "${@:3}"
	[[ $rc == 137 && $(tail -n 2 "$TMPDIR/trace") == *$2* ]] ||
		fail "exit $rc, not killed at $2: $(tail -n 3 "$TMPDIR/trace")"
}

# reserves: open nc, which must reserve the origin.
reserves() {
	good "${open[@]}" --reserve -j
	[[ $(json reservation_key) == 0x* ]] || fail "no reservation: $out"
	! other_writes || fail "the other node writes after a kill at $1"
	good close nc --keep
}

# releases: open nc, which must release the origin.
releases() {
	good "${open[@]}" --no-reserve
	other_writes || fail "the origin is not released after a kill at $1"
	good close nc --keep
}

type strace >/dev/null 2>&1 || skip "no strace"
make_volume 64
make_null C local 24
make_null L log 32
at_exit gone
open=(open nc --cache "$C" --origin "$O" --rate 64K)
good create nc --cache "$C" --block-size 64K --force --stage "$L" --origin "$O" --rate 64K
./blockdata write /dev/mapper/nc -n 16384 -g 2
good close nc --keep
traced --reserve
traced --no-reserve
# The key is registered; the origin is reserved; one copy of the superblock says so. For --no-reserve: the
# log says that the origin is not reserved; the connection has registered its key again.
ends=(IOC_PR_REGISTER IOC_PR_CLEAR '')
for at in "ioctl IOC_PR_RESERVE" "pwrite64 pwrite64" "fsync fsync"; do
	killed_at "${at% *}" "${at#* }" --reserve
	reserves "$at"
	[[ ! ${ends[0]} ]] || killed_at ioctl "${ends[0]}" --no-reserve
	releases "${ends[0]}"
	ends=("${ends[@]:1}")
done
good "${open[@]}"
good stage rate nc 0
good stage drain nc --wait
./blockdata read "$O" -n 16384 -g 2 >/dev/null || fail "the origin lacks writes"
