#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# open --on-change, with each policy, for an origin whose size, identity, content or version differs
# from the recorded. nc must not serve data that the origin does not have, unless the user asserts
# by --on-change=trust that nothing changed.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

# volume SECTORS UUID: change the size and the identity of the origin.
volume() {
	dm_gone vol
	dm_create vol "0 $1 linear $base 0" --uuid "$2" >/dev/null || fail "no volume"
}

# refused TEXT... -- WORDS...: open must fail with each text, open nothing and change nothing.
refused() {
	local texts=() text before after
	while [[ $1 != -- ]]; do
		texts+=("$1")
		shift
	done
	shift
	before=$(dd if="$C" bs=4096 count=256 iflag=direct 2>/dev/null | sha256sum)
	for text in "${texts[@]}"; do
		bad 4 "$text" open nc --cache "$C" --origin "$O" "$@"
	done
	[[ $out == *'--on-change=drop'*'--on-change=trust'* ]] || fail "no advice: $out"
	after=$(dd if="$C" bs=4096 count=256 iflag=direct 2>/dev/null | sha256sum)
	same "the start of the cache device" "$after" "$before"
	! dmsetup info nc >/dev/null 2>&1 || fail "a device was made"
}

reopen() {
	good open nc --cache "$C" --origin "$O" -j "$@"
}

# part GENERATION FIRST COUNT: fail unless nc returns this generation.
part() {
	./blockdata read /dev/mapper/nc -g "$1" -s "$2" -n "$3" >/dev/null ||
		fail "sectors $2+$3 are not generation $1 (line ${BASH_LINENO[0]})"
	settle
}

# from_cache GENERATION FIRST COUNT: read this part without the origin.
from_cache() {
	origin_mark
	part "$@"
	same "bytes of the origin" "$(origin_delta)" 0
}

make_null base base 16
make_null C local 24
O=/dev/mapper/vol
at_exit dm_gone vol
at_exit dm_gone nc
all=$(sectors "$base")
./blockdata write "$base"
volume "$all" first
bad 1 "--on-change 'keep': give drop, refuse or trust" open nc --cache "$C" --on-change keep
good create nc --origin "$O" --cache "$C" --block-size 64K --dataset-version v1
part 1 4096 16384
good close nc

# --- nothing changed ---

for what in drop refuse trust; do
	reopen --on-change="$what" --dataset-version v1
	expect content warm changed null
	from_cache 1 4096 16384
	good close nc
done

# --- content: the ends, which are not cached ---

./blockdata write "$base" -g 2 -n 64
refused "was changed since" --
refused "was changed since" -- --on-change=refuse
good open nc --cache "$C" --origin "$O" --on-change=trust --dry-run
[[ $out == *"trusted, though the origin's content was changed"* ]] || fail "dry run: $out"
reopen --on-change=drop --dry-run
expect content dropped changed content
reopen --on-change=trust
expect content warm changed content loaded warm
from_cache 1 4096 16384
part 2 0 64
good close nc
# The open before has recorded the new content: no change is reported.
reopen
expect content warm changed null
part 2 0 64
good close nc
./blockdata write "$base" -g 3 -n 64
reopen --on-change=drop
expect content dropped changed content dataset_version v1
is bytes_valid 0
part 3 0 64
part 1 4096 16384
good close nc
reopen
expect content warm
from_cache 1 4096 16384
good close nc

# --- identity ---

volume "$all" second
refused "is 'dm-uuid:second', the cache was created for 'dm-uuid:first'" --
refused "dm-uuid:first" -- --dataset-version v2
reopen --on-change=trust
expect content warm changed identity
from_cache 1 4096 16384
good close nc
good super "$C" -j
expect origin_id dm-uuid:second
# open must find the origin by its new identity.
good open nc --cache "$C" -j
expect content warm origin "$O"
good close nc
volume "$all" third
reopen --on-change=drop
expect content dropped changed identity
is bytes_valid 0
part 1 4096 16384
good close nc
good open nc --cache "$C"
from_cache 1 4096 16384
good close nc

# --- version ---

refused "--dataset-version 'v2': the cached data is of version 'v1'" -- --dataset-version v2 --on-change=refuse
reopen --dataset-version v2 --on-change=trust
expect content warm changed version dataset_version v2
from_cache 1 4096 16384
good close nc
reopen --dataset-version v3
expect content dropped changed version dataset_version v3
part 1 4096 16384
part 1 $((all - 2048)) 2048
part 3 0 64
good close nc

# --- a smaller origin: nothing beyond its end is served ---

short=$((all - 1027))
volume "$short" third
refused "has $((short * 512)) bytes, the cache was created for one of $((all * 512))" --
reopen --on-change=trust
expect content warm changed size size $((short * 512))
same "size of nc" "$(sectors /dev/mapper/nc)" "$short"
from_cache 1 4096 16384
from_cache 1 $((all - 2048)) $((2048 - 1152))
part 1 $((all - 2048)) $((2048 - 1027))
good close nc
good super "$C" -j
expect origin_size $((short * 512))
# Before the origin grows again, another host rewrites the part behind its end.
./blockdata write "$base" -g 4 -s "$short" -n 1027
volume "$all" third
reopen --grow
expect content warm
part 4 "$short" 1027
from_cache 1 4096 16384
part 1 $((all - 2048)) $((2048 - 1027))
good close nc

# --- a larger origin, and all changes at once ---

volume "$short" fourth
reopen --on-change=drop
[[ $out == *'"changed": "identity, size"'* ]] || fail "open: $out"
is bytes_valid 0
part 1 4096 16384
good close nc
volume "$all" fifth
./blockdata write "$base" -g 5 -n 64
refused "'dm-uuid:fifth', the cache" "if it grew, open it with --grow" "of version 'v3'" "was changed since" -- \
	--on-change=refuse --dataset-version v4
reopen --on-change=trust --dataset-version v4
[[ $out == *'"changed": "identity, size, version, content"'* ]] || fail "open: $out"
expect content warm dataset_version v4 size $((all * 512))
from_cache 1 4096 16384
part 5 0 64
part 4 "$short" 1027
good close nc
reopen --dataset-version v4
expect content warm changed null
from_cache 1 4096 16384
good close nc

# --- interrupted by a fault or a signal: the old superblock or the new one ---

type -P strace >/dev/null || exit 0
for what in drop trust; do
	for n in 1 2; do
		volume "$all" "$what$n"
		rc=0
		strace -qq -o "$TMPDIR/trace" -e trace=pwrite64 -e "inject=pwrite64:error=EIO:when=$n" \
			nearcache open nc --cache "$C" --origin "$O" --on-change=$what >"$TMPDIR/said" 2>&1 || rc=$?
		((rc)) || fail "pwrite64 $n failed, and open did not: $(<"$TMPDIR/said")"
		good super "$C" -j
		expect sound true
		reopen --on-change=$what
		part 1 4096 16384
		good close nc
	done
done
