#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a stage: create, close and open with writes in the log, drain, destroy. While the log
# holds writes, the origin cannot be used without it.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

gone() {
	dm_gone nc
	dm_gone nc-stage
}

# without_log CODE TEXT: the origin is refused to another cache; or not, with code 0.
without_log() {
	run create other --origin "$O" --cache "$C2" --mode writearound --dry-run
	[[ $rc == "$1" && $err == *"$2"* ]] || fail "another cache: exit $rc, $err"
}

make_null base base 64
make_null C local 24
make_null C2 other 24
make_null L log 32
make_dm O slice "0 $(sectors "$base") linear $base 0" --uuid stage-cmd
at_exit gone
new=(create nc --origin "$O" --cache "$C" --block-size 64K)
bad 1 "need --stage DEV" "${new[@]}" --mode writeback
bad 1 "leave out one" "${new[@]}" --stage "$L" --read-only
bad 4 "a log needs at least 1 GiB, and more than a checkpoint; --force" "${new[@]}" --stage "$L"
bad 4 "share storage" "${new[@]}" --stage "$base" --force
bad 4 "share storage" "${new[@]}" --stage "$C" --force
good "${new[@]}" --stage "$L" --force --dry-run
! dmsetup info nc-stage >/dev/null 2>&1 || fail "a dry run made a stage"
good "${new[@]}" --stage "$L" --force --mode writeback --rate 512K -j
expect mode writearound
[[ $(dmsetup table nc-stage) == *" rate 524288"* ]] || fail "table: $(dmsetup table nc-stage)"

./blockdata write /dev/mapper/nc -n 16384
sync
check -n 16384
good stage status nc -j
(($(json behind_bytes) > 1 << 20)) || fail "nothing is behind: $out"
good status nc
[[ $out == *"not yet on the origin"* ]] || fail "status: $out"
bad 5 "in the log are not on the origin yet" destroy nc
bad 4 "is the stage below a cache" status nc-stage
without_log 5 "holds writes for origin"
good close nc --keep
! dmsetup info nc-stage >/dev/null 2>&1 || fail "close left the stage"
without_log 5 "holds writes for origin"
bad 4 "the log of a nearcache stage" create other --origin "$C2" --cache "$L"
good super "$L"
[[ $out == *"no, or unknown"* ]] || fail "super: $out"
bad 5 "the log of the stage holds writes" destroy --cache "$C"
bad 4 "carries no log" open nc --cache "$C" --stage "$C2"
bad 4 "was made for 'dm-uuid:stage-cmd'" open nc --cache "$C" --origin "$base"

good open nc --cache "$C"
check -n 16384
good stage rate nc 0
good stage drain nc --wait -j
expect drained true
./blockdata read "$O" -n 16384 || fail "the origin lacks what was drained"
good stage status nc -j
expect behind_bytes 0
./blockdata write /dev/mapper/nc -n 16384 -g 2
good close nc
./blockdata read "$O" -n 16384 -g 2 || fail "close did not drain"
without_log 0 ""
good open nc --cache "$C"
check -n 16384 -g 2
good destroy nc
bad 4 "carries no log" open nc --stage "$L" --origin "$O"
