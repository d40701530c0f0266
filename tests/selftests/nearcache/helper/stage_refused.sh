#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The commands refuse a log that cannot serve, a log of another origin, and an origin if a log holds
# writes that the origin lacks. The verbs status, list and stage show the state of the stage.
# kernels: 6.12
# cpus: 1
# when: soak
. ./staged.sh

# without_log CODE TEXT: the origin is refused to another cache; or not, with code 0.
without_log() {
	run create other --origin "$O" --cache "$C2" --mode writearound --dry-run
	[[ $rc == "$1" && $err == *"$2"* ]] || fail "another cache: exit $rc, $err"
}

make_null C2 other 24
make_staged stage-refused
new=(create nc --origin "$O" --cache "$C" --block-size 64K)
bad 1 "need --stage DEV" "${new[@]}" --mode writeback
bad 1 "leave out one" "${new[@]}" --stage "$L" --read-only
bad 4 "a log needs at least 1 GiB, and more than a checkpoint; --force" "${new[@]}" --stage "$L"
bad 4 "share storage" "${new[@]}" --stage "$base" --force
bad 4 "share storage" "${new[@]}" --stage "$C" --force
good "${new[@]}" --stage "$L" --force --dry-run
! dmsetup info nc-stage >/dev/null 2>&1 || fail "a dry run made a stage"
good "${new[@]}" --stage "$L" --force --mode writeback --rate 512K
./blockdata write /dev/mapper/nc -n 16384
good stage status nc -j
(($(json behind_bytes) > 1 << 20)) || fail "nothing is behind: $out"
good status nc
[[ $out == *"not yet on the origin"* ]] || fail "status: $out"
bad 4 "is the stage below a cache" status nc-stage
without_log 5 "holds writes for origin"
good close nc --keep
without_log 5 "holds writes for origin"
bad 4 "the log of a nearcache stage" create other --origin "$C2" --cache "$L"
good super "$L"
[[ $out == *"no, or unknown"* ]] || fail "super: $out"
bad 5 "the log of the stage holds writes" destroy --cache "$C"
bad 4 "carries no log" open nc --cache "$C" --stage "$C2"
bad 4 "was made for 'dm-uuid:stage-refused'" open nc --cache "$C" --origin "$base"
good open nc --cache "$C"
good close nc
without_log 0 ""
good open nc --cache "$C"
good stage status nc -j
expect behind_bytes 0
good destroy nc
bad 4 "carries no log" open nc --stage "$L" --origin "$O"
