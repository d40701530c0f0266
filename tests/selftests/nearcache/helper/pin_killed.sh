#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 during pin and unpin: status reports what kernel and record do not both have, and
# pin --refresh mends it. A torn end of the record is ignored with a message. Ranges whose label is
# not on record stay, and so do all while there is no record.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

RECORD=/var/lib/nearcache/pins/nc.json

# differs UNRECORDED MISSING: what status reports.
differs() {
	good status nc -j
	expect unrecorded_ranges "$1" missing_pins "$2"
}

make_null O origin 24
make_null C local 16
at_exit rm -f "$RECORD"
at_exit dm_gone nc
good create nc --origin "$O" --cache "$C" --block-size 64K
good pin nc 0-1M --no-load --label kept
differs 0 0
injected fdatasync:signal=KILL pin nc 2M-3M --no-load --label killed
[[ $rc != 0 ]] || fail "pin was not killed"
differs 0 1
good status nc
[[ $out == *"'nearcache pin nc --refresh' makes them equal"* ]] || fail "no advice: $out"
good pin nc --refresh -j
expect pins 2 pinned_again 1 unrecorded_ranges 0
differs 0 0
good ranges nc -j
expect range_count 2

injected fdatasync:signal=KILL unpin nc --label killed
[[ $rc != 0 ]] || fail "unpin was not killed"
differs 1 0
good pin nc --refresh -j
expect pins 1 pinned_again 0 unrecorded_ranges 1
differs 0 0
good ranges nc -j
expect range_count 1 label kept

# What a crash leaves of a change does not count: then label torn is not on record.
good pin nc 4M-5M --no-load --label torn
truncate -s $(($(stat -c %s "$RECORD") - 3)) "$RECORD"
run pin nc --refresh -j
[[ $rc == 0 && $err == *"'$RECORD' is incomplete"* ]] || fail "torn: $err"
[[ $err == *"for example 'torn'"*"'nearcache unpin nc --label' removes"* ]] || fail "left: $err"
expect pins 1 unrecorded_ranges 0 unrecorded_left 1
good unpin nc --label torn
differs 0 0

mv "$RECORD" "$TMPDIR/record"
run pin nc --refresh -j
[[ $rc == 0 && $err == *"'nearcache unpin nc --all' removes"* ]] || fail "no record: $err"
expect unrecorded_ranges 0 unrecorded_left 1
good status nc
[[ $out == *"1 ranges have no record"* ]] || fail "no advice without a record: $out"
mv "$TMPDIR/record" "$RECORD"
good pin nc --refresh -j
expect pins 1 unrecorded_left 0
