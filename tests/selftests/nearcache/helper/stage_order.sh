#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What 'create' checks before it writes, and the order in which 'destroy' wipes: if it is interrupted,
# it can be repeated, and no cache is opened without its log.
# kernels: 6.12
# cpus: 1
# when: soak
. ./gate.sh
. ./staged.sh

type strace >/dev/null 2>&1 || skip "no strace"
make_staged stage-order
new=(create nc --origin "$O" --cache "$C" --block-size 64K --force)

# No later open would find a log behind a network.
gate_start
gate device far 32
bad 4 "'$REPLY' is no local device" "${new[@]}" --stage "$REPLY"
gate seen far
same "writes to the remote device" "${REPLY#* }" "0 0 0 0 0"

# The name of the stage is taken.
cp "$L" "$TMPDIR/log"
cp "$C" "$TMPDIR/cache"
dm_create nc-stage "0 8 zero" >/dev/null || fail "dm_create"
for words in "" --dry-run; do
	bad 5 "'nc-stage' exists" "${new[@]}" --stage "$L" $words
done
cmp "$L" "$TMPDIR/log" && cmp "$C" "$TMPDIR/cache" || fail "create wrote before its checks"
dm_gone nc-stage

# wiped_by CALL WORDS...: destroy the closed cache; kill the command in its first CALL, after it has wiped
# the log.
wiped_by() {
	injected "$1:signal=SIGKILL:when=1" destroy --cache "$C" "${@:2}"
	[[ $rc != 0 ]] || fail "destroy was not killed: $(<"$TMPDIR/said")"
	bad 4 "carries no nearcache superblock" super "$L"
	good super "$C"
	bad 4 "may hold writes that the origin lacks" open nc --cache "$C"
}

good "${new[@]}" --stage "$L"
./blockdata write /dev/mapper/nc -n 4096
good close nc
wiped_by fsync
bad 5 "an interrupted 'destroy' has wiped it" destroy --cache "$C"
gives_up destroy --cache "$C" --abandon-stage
bad 4 "carries no nearcache superblock" super "$C"

good "${new[@]}" --stage "$L" --rate 512K
./blockdata write /dev/mapper/nc -n 16384
good close nc --keep
bad 5 "--abandon-stage loses it" destroy --cache "$C"
# A child of the command wipes a log that is given up: the first write of the command is to the cache.
wiped_by pwrite64 --abandon-stage
gives_up destroy --cache "$C" --abandon-stage
bad 4 "carries no nearcache superblock" super "$C"
