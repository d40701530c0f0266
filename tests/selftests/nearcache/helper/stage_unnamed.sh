#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A stage whose origin has no wwid, serial or uuid: create and open print which changes they cannot notice.
# They recognise the origin by its content.
# kernels: 6.12
# cpus: 1
. ./staged.sh

make_null O origin 64
make_null O2 other 64
make_null C local 24
make_null C2 local2 24
make_null L log 32
./blockdata write "$O2" -g 5
at_exit staged_gone
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
[[ $out == *"not noticed"*"the origin has no wwid, serial or uuid"* ]] || fail "create: $out"
./blockdata write /dev/mapper/nc -n 16384
good close nc --keep
for mode in writearound read-only; do
	bad 5 "holds writes for origin '$O'" create other --origin "$O" --cache "$C2" --mode $mode --dry-run
done
good create other --origin "$O2" --cache "$C2" --mode writearound --dry-run
bad 4 "has no device id: name it with --origin" open nc --cache "$C"
bad 4 "another host changed it" open nc --cache "$C" --origin "$O2"
good open nc --cache "$C" --origin "$O"
[[ $out == *"not noticed"*"the origin has no wwid, serial or uuid"* ]] || fail "open: $out"
check -n 16384
good close nc
good create other --origin "$O" --cache "$C2" --mode writearound --dry-run
