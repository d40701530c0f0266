#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# EnhanceIO's notorious bug: after a change of the volume without the cache, the cache served the
# old data. Here open must detect a change at the ends of the volume; after any change, 'invalidate'
# or 'open --dataset-version' must make reads return the new data.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
no_settings

# part GENERATION FIRST COUNT: fail unless nc returns this generation.
part() {
	./blockdata read /dev/mapper/nc -g "$1" -s "$2" -n "$3" >/dev/null ||
		fail "sectors $2+$3 are not generation $1 (line ${BASH_LINENO[0]})"
}

warm() {
	./blockdata read /dev/mapper/nc -g "$1" >/dev/null || fail "not generation $1 (line ${BASH_LINENO[0]})"
	settle
}

reopen() {
	good open nc --cache "$C" --origin "$O" "$@"
}

make_null O origin 16
make_null C local 24
./blockdata write "$O"
at_exit dm_gone nc
good create nc --origin "$O" --cache "$C" --dataset-version v1
warm 1

# While nc is open, a change is invisible until the user invalidates.
./blockdata write "$O" -g 2 -s 8000 -n 1000
part 1 8000 1000
good invalidate nc --range $((8000 * 512)):$((1000 * 512))
part 2 8000 1000
part 1 0 8000

# The same with changed ends: after 'invalidate' the next open must report no change.
./blockdata write "$O" -g 2
good invalidate nc
warm 2
good close nc
reopen -j
expect content warm
is bytes_valid $((16 << 20))
warm 2
./blockdata write "$O"
./blockdata write "$O" -g 2 -s 8000 -n 1000
good invalidate nc
is invalidated_bytes $((16 << 20))
part 1 0 8000
part 2 8000 1000
part 1 9000 $((32768 - 9000))
settle
good close nc

# The middle is changed while nc is closed: only the sample shows it; without a sample the data stays.
reopen --dataset-version v1 -j
expect content warm dataset_version v1
is blocks_warm "$(field blocks_used)"
part 2 8000 1000
settle
good close nc
./blockdata write "$O" -g 3 -s 9000 -n 1000
bad 4 'the cached data near byte' open nc --cache "$C" --origin "$O" --dataset-version v1 \
	--compare-at-open 64M
reopen --compare-at-open 0
part 1 9000 1000
good close nc
reopen --dataset-version v2 --dry-run
[[ $out == *'would be dropped'*"'v1'"* ]] || fail "dry run: $out"
good super "$C" -j
expect dataset_version v1
reopen --dataset-version v2
[[ $out == *'cached content'*"dropped: the dataset version was 'v1'"* ]] || fail "open: $out"
is blocks_warm 0
is bytes_valid 0
part 3 9000 1000
part 2 8000 1000
settle
valid=$(field bytes_valid)
good close nc
good super "$C" -j
expect dataset_version v2 bytes_valid "$valid"
reopen --dataset-version v2
is bytes_valid "$valid"
good close nc

# The ends are changed: open must refuse, and with a new version drop the cached data.
./blockdata write "$O" -g 4
bad 4 'was changed' open nc --cache "$C" --origin "$O"
[[ $out == *'--dataset-version'* ]] || fail "no advice: $out"
bad 4 'was changed' open nc --cache "$C" --origin "$O" --dataset-version v2
bad 1 'it is empty' open nc --cache "$C" --origin "$O" --dataset-version ''
reopen --dataset-version v3 -j
expect content dropped
warm 4
good close nc
reopen -j
expect dataset_version v3 content warm
warm 4
origin_mark
warm 4
same "bytes from the origin" "$(origin_delta)" 0

# Writes through nc itself must not count as a change, whatever the mode of the next open.
for mode in writethrough writearound; do
	good set nc "mode=$mode"
	./blockdata write /dev/mapper/nc -g 5 -n 8
	good close nc
	reopen -j
	expect content warm mode read-only
	part 5 0 8
done

# nc wrote the ends and was not stopped cleanly: cold, but neither this nor a later open refuses.
good set nc mode=writethrough
./blockdata write /dev/mapper/nc -g 6
good super "$C" -j
expect super_state active
dd if="$C" of="$TMPDIR/active" bs=4096 skip=1 count=1 iflag=direct 2>/dev/null
good close nc
dd if="$TMPDIR/active" of="$C" bs=4096 seek=1 oflag=direct conv=fsync 2>/dev/null
dd if="$TMPDIR/active" of="$C" bs=4096 seek=128 oflag=direct conv=fsync 2>/dev/null
reopen -j
expect content cold
is loaded 3
warm 6
good close nc
reopen -j
expect content warm
warm 6
good close nc

# The same with a new version: the cache is cold anyway, and open must record the version.
dd if="$TMPDIR/active" of="$C" bs=4096 seek=1 oflag=direct conv=fsync 2>/dev/null
dd if="$TMPDIR/active" of="$C" bs=4096 seek=128 oflag=direct conv=fsync 2>/dev/null
./blockdata write "$O" -g 7
reopen --dataset-version v4 -j
expect content dropped dataset_version v4
is loaded 3
warm 7
good close nc
reopen -j
expect content warm dataset_version v4
warm 7
good close nc

# The write of the new version fails or is interrupted: open must complete, or keep the old version
# so that it can be repeated.
type -P strace >/dev/null || exit 0
drop() {
	injected "$1" open nc --cache "$C" --origin "$O" --dataset-version "$2"
	(($(grep -c "${1%%:*}(" "$TMPDIR/trace") >= ${1##*=})) || fail "no call: $1"
}
for n in 1 2; do
	drop "pwrite64:error=EIO:when=$n" "fail$n"
	((rc)) || fail "pwrite64 $n failed, and open did not: $(<"$TMPDIR/said")"
	[[ ! -e /dev/mapper/nc ]] || fail "device left behind"
	good super "$C" -j
	# Only the second write goes to the superblock copy in use, so the first cannot lose it.
	[[ $n == 2 || $(json dataset_version) == v4 ]] || fail "version lost: $out"
	[[ $n == 1 || $(json dataset_version) == fail2 ]] || fail "version not recorded: $out"
	expect sound true
	drop "fsync:signal=SIGTERM:when=$n" "stop$n"
	((!rc)) || fail "stopped half-way: $(<"$TMPDIR/said")"
	warm 7
	good close nc
	good super "$C" -j
	expect dataset_version "stop$n"
	reopen --dataset-version v4 -j
	expect content dropped
	good close nc
done
