#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a witness: create, open, set, attach and destroy must maintain the witness record.
# status must predict the outcome of a crash in a writing mode, and open must find this outcome. A
# missing witness must not prevent open.
# kernels: 6.1
# timeout: 300
# cpus: 1
. ./given_up.sh
. ./command.sh
no_settings

NC=/dev/mapper/nc
region=2048 # sectors

# warned TEXT WORDS...: the command must succeed with this warning.
warned() {
	run "${@:2}"
	[[ $rc == 0 && $err == *"warning: "*"$1"* ]] || fail "nearcache ${*:2}: exit $rc, no '$1' in '$err'"
}

# keep: save cache device and witness as a power cut would leave them. after_crash: restore both.
keep() {
	local dev
	for dev in "$local" "$w" "$v"; do
		blockdev --flushbufs "$dev"
		dd if="$dev" of="$TMPDIR/${dev##*/}" bs=1M iflag=direct 2>/dev/null || fail "dd"
	done
}

after_crash() {
	local dev
	run close nc
	[[ $rc == 0 ]] || fail "close: $err"
	for dev in "$local" "$w" "$v"; do
		dd if="$TMPDIR/${dev##*/}" of="$dev" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "dd"
	done
	lies slice linear
}

# moved DEV: fail unless record 0 of DEV has the state "cache has another witness, or none".
moved() {
	[[ $(./intent "$C" said "$1" 0) == *' 0 4' ]] || fail "record 0 of $1 (line ${BASH_LINENO[0]})"
}

# copy: save the cache device to $TMPDIR/older. put_back: restore the device from there.
copy() {
	blockdev --flushbufs "$local"
	dd if="$local" of="$TMPDIR/older" bs=1M iflag=direct 2>/dev/null || fail "dd"
}

put_back() {
	dd if="$TMPDIR/older" of="$local" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "dd"
}

# outdated GENERATION: open must reject the old copy as cold; then refill the cache.
outdated() {
	put_back
	good open nc --cache "$C" --origin "$O" --mode writethrough -j
	expect content cold
	get $((region * 3)) 8 "$1"
	put $((region * 3)) 8 1
	full
}

# says DEV N EXPECTED: fail unless record N of DEV is for this cache and has this content.
says() {
	same "record $2 of $1" "$(./intent "$C" said "$1" "$2")" "$3"
}

# empty DEV N: fail unless record N is unused.
empty() {
	dd if="$1" of="$TMPDIR/record" bs=4096 skip="$2" count=1 iflag=direct 2>"$TMPDIR/dd" || fail "dd: $(cat "$TMPDIR/dd")"
	cmp -s "$TMPDIR/record" <(head -c 4096 /dev/zero) ||
		fail "record $2 of $1 is in use (line ${BASH_LINENO[0]})"
}

put() {
	./blockdata write "$NC" -s "$1" -n "$2" -g "$3" || fail "write"
}

get() {
	./blockdata read "$NC" -s "$1" -n "$2" -g "$3" >/dev/null || fail "wrong data (line ${BASH_LINENO[0]})"
}

# full: cache the whole origin and commit the slot table.
full() {
	get 0 $((8 * region)) 1
	settle
	written_down
}

# table WITNESS: fail unless the live table names this witness, or none if WITNESS is empty.
table() {
	local words
	words=$(dmsetup table nc)
	[[ ${1:+${words##* witness }} == "${1:+$(number "$1")}" && ($1 || $words != *witness*) ]] ||
		fail "table '$words', not '$1' (line ${BASH_LINENO[0]})"
}

make_null O origin 8
make_null local local 12
make_null w witness 1
make_null v other 1
make_dm C slice "$(under linear "$local")"
make_null V2 third 1
make_dm W wit "$(under linear "$w")"
make_dm V oth "$(under linear "$v")"
at_exit dm_gone nc
generation=1
./blockdata write "$O"

# A dry run must write no record. The superblock gets the path that the user gave.
good create nc --origin "$O" --cache "$C" --witness "$W" --block-size 64K --dry-run -j
expect witness "$W"
empty "$W" 0
# cache_timeout 0: any device may exceed the default on a busy machine.
good create nc --origin "$O" --cache "$C" --witness "$W" --block-size 64K --mode writethrough --cache-timeout 0 -j
expect witness "$W" super_state clean
json_keys name mode origin cache table uuid super_state witness session
table "$W"
full

# status must predict the cost of a crash, before and after a write.
good status nc
[[ $out == *"a crash now"*"would leave it warm"* && $out == *"witness"*"$W"* ]] || fail "status: $out"
[[ $out != *'regions being written'* ]] || fail "status: $out"
says "$W" 0 "3 0 1"
# A region stays marked for at least 2 s.
put $((region * 3)) 8 2
good status nc
[[ $out == *'regions being written'*1* ]] || fail "status: $out"
put $((region * 3)) 8 2
good status nc -j
expect witness "$W" witness_state warm intent_regions 1
good list -j
expect witness "$W" witness_state warm
put $((region * 3)) 8 2
good stats nc -j
[[ $(jq -r '.witness.value, .intent_regions.value' <<<"$out" 2>/dev/null | tr '\n' ' ') == "warm 1 " ]] ||
	[[ ! $(type -P jq) ]] || fail "stats: $out"
# Write again: on a slow machine the mark may have been cleared.
put $((region * 3)) 8 2
keep
after_crash
good super "$C" -j
expect super_state writing next_open warm witness "$W" session 3
good super "$C"
[[ $out == *'warm, except 1 region of 1 MiB'* ]] || fail "super: $out"

# After the crash, the cache must be warm except for the written region, also in read-only mode.
good open nc --cache "$C" --origin "$O" --dry-run
[[ $out == *'kept over a crash, except 1 region of 1 MiB'* ]] || fail "open: $out"
good open nc --cache "$C" --origin "$O" -j
expect content warm loaded recovered witness "$W" changed null mode read-only
is bytes_valid $((7 << 20))
origin_mark
get 0 $((region * 3)) 1
same "bytes from the origin" "$(origin_delta)" 0
get $((region * 3)) 8 2
good close nc

# After a crash another host changed the ends of the origin: open must detect this, unless the cache
# itself was writing to the ends.
changed_meanwhile() {
	good open nc --cache "$C" --origin "$O" --mode writethrough --cache-timeout 0
	get 0 $((region * 3)) 1
	settle
	written_down
	put "$1" 8 2
	keep
	after_crash
	./blockdata write "$O" -n 1 -g 2
}
changed_meanwhile $((region * 3))
bad 4 'first or last 64 KiB differ' open nc --cache "$C" --origin "$O"
good open nc --cache "$C" --origin "$O" --on-change=drop -j
expect content dropped
get 0 1 2
good close nc
./blockdata write "$O"
good open nc --cache "$C" --origin "$O" --on-change=drop
good close nc
changed_meanwhile 8
good open nc --cache "$C" --origin "$O" -j
expect content cold changed null loaded unclean
get 0 1 2
good close nc
./blockdata write "$O"
good open nc --cache "$C" --origin "$O" --on-change=drop --mode writethrough
full

# An old copy of the cache device, stopped cleanly, lacks a later session: open must drop its data.
good close nc
copy
good open nc --cache "$C" --origin "$O" --mode writethrough
put $((region * 3)) 8 4
good close nc
put_back
good super "$C"
[[ $out == *'cold: the witness knows of a later session'* ]] || fail "super: $out"
good open nc --cache "$C" --origin "$O" --dry-run
[[ $out == *'none: the witness knows of a later session than the cache device'* ]] || fail "open: $out"
good open nc --cache "$C" --origin "$O" --mode writethrough -j
expect content cold changed null loaded unclean
get $((region * 3)) 8 4
put $((region * 3)) 8 1
good close nc
# The old copy must also be detected when the witness cannot be used.
put_back
make_dm user user "$(under linear "$W")"
warned 'is in use by' open nc --cache "$C" --origin "$O" -j
expect content dropped witness null
get $((region * 3)) 8 1
dm_remove user
good close nc
good open nc --cache "$C" --origin "$O" --mode writethrough -j
expect content warm loaded warm
full
# The old copy must also be detected when the user names no witness, a missing one, or one without a
# record, whatever else has changed.
put 0 8 5
good close nc
for named in none "$V" /dev/nowhere; do
	put_back
	run open nc --cache "$C" --origin "$O" --witness "$named" -j
	[[ $rc == 0 ]] || fail "open: $err"
	expect content dropped
	get $((region * 3)) 8 1
	get 0 8 5
	good close nc
	good open nc --cache "$C" --origin "$O" --witness "$W" --mode writethrough
	put $((region * 3)) 8 1
	good close nc
done
# Opening without the witness in read-only mode must not make the cache device outdated.
good open nc --cache "$C" --origin "$O" --witness none -j
expect content warm
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" -j
expect content warm loaded warm
good close nc
# An old copy must be detected when the cache got another witness: the old record shows this.
good open nc --cache "$C" --origin "$O" --witness "$V" --mode writethrough
put $((region * 3)) 8 4
good close nc
put_back
warned 'has no record of this cache' open nc --cache "$C" --origin "$O" -j
expect content dropped
get $((region * 3)) 8 4
good close nc
# An old copy must be detected when the cache returned to the old witness in read-only mode,
good open nc --cache "$C" --origin "$O" --witness "$V" --mode writethrough
put $((region * 3)) 8 6
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W"
good close nc
put_back
good open nc --cache "$C" --origin "$O" -j
expect content cold
get $((region * 3)) 8 6
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" --mode writethrough
put $((region * 3)) 8 1
put 0 8 1
full
# or when the cache wrote without a witness before it returned to the old one,
good close nc
copy
good open nc --cache "$C" --origin "$O" --witness none --mode writethrough
put $((region * 3)) 8 4
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" -j
expect content warm
good close nc
outdated 4
# or when it did so for a while only, or because the recorded witness could not be used.
good close nc
copy
good open nc --cache "$C" --origin "$O"
good set nc witness=none mode=writethrough
put $((region * 3)) 8 5
good set nc mode=read-only
read -r last _ < <(./intent "$C" said "$W" 0)
good close nc
says "$W" 0 "$((last + 1)) 0 3"
good open nc --cache "$C" --origin "$O" -j
expect content warm witness "$W"
good close nc
outdated 5
# A crash before the witness recorded a session must lose nothing. If the cache then got another
# witness, a copy from the crash must be detected, although its session number is higher than that
# in the record of the old witness.
good close nc
good open nc --cache "$C" --origin "$O"
good set nc witness=none mode=writethrough
put $((region * 3)) 8 1
good close nc
read -r last _ < <(./intent "$C" said "$W" 0)
./intent "$C" say "$W" 0 $((last - 1)) 0 3
good open nc --cache "$C" --origin "$O" -j
expect content warm witness "$W"
good close nc
copy
good open nc --cache "$C" --origin "$O" --witness "$V" --mode writethrough
put $((region * 3)) 8 8
good close nc
says "$W" 0 "$last 0 4"
put_back
warned 'has no record of this cache' open nc --cache "$C" --origin "$O" -j
expect content dropped
get $((region * 3)) 8 8
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" --mode writethrough
put $((region * 3)) 8 1
full
good close nc
copy
make_dm user user "$(under linear "$W")"
warned 'is in use by' open nc --cache "$C" --origin "$O" --mode writethrough
put $((region * 3)) 8 6
dm_remove user
good close nc
outdated 6
# A crash before the superblock named the new witness: open drops the data once, then uses none.
good close nc
read -r last _ < <(./intent "$C" said "$W" 0)
./intent "$C" say "$W" 0 "$last" 0 4
warned 'has no record of this cache' open nc --cache "$C" --origin "$O" -j
expect content dropped witness null
get $((region * 3)) 8 1
good close nc
good open nc --cache "$C" --origin "$O" -j
expect content warm witness null
good close nc
copy
good open nc --cache "$C" --origin "$O" --witness "$W" --mode writethrough -j
expect content warm witness "$W"
put $((region * 3)) 8 7
# The same with a copy that names no witness, of a cache that has used $W since.
good close nc
good open nc --cache "$C" --origin "$O" --witness none
good close nc
put_back
good open nc --cache "$C" --origin "$O" --witness "$W" --mode writethrough -j
expect content dropped witness "$W"
get $((region * 3)) 8 7
put $((region * 3)) 8 1
full
# A crash before the record of the returning witness is written must change nothing.
good close nc
good open nc --cache "$C" --origin "$O" --witness none
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W"
good close nc
read -r last _ < <(./intent "$C" said "$W" 0)
./intent "$C" say "$W" 0 $((last - 1)) 0 4
warned 'has no record of this cache' open nc --cache "$C" --origin "$O" -j
expect content warm
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" -j
expect content warm witness "$W"
good close nc
# To set a witness in read-only mode, and then another, must not make the cache cold.
good open nc --cache "$C" --origin "$O" --witness none
good set nc witness="$W"
good set nc witness="$V"
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" -j
expect content warm witness "$W"
good close nc
# A crash after a witness was set in read-only mode: the superblock lacks it, but open stays warm.
good open nc --cache "$C" --origin "$O" --witness none
good set nc witness="$W"
keep
after_crash
good open nc --cache "$C" --origin "$O" --witness "$W" --mode writethrough -j
expect content warm witness "$W"
full

# The witness is missing, or has no record of this cache: open must succeed and report the cost.
put $((region * 3)) 8 1
keep
after_crash
dm_remove wit
warned "witness device '$W': No such file or directory; opened without the witness" open nc --cache "$C" --origin "$O" -j
[[ $err == *'the cache is empty now'* ]] || fail "open: $err"
expect content cold witness null loaded unclean
table ''
get 0 64 1
good close nc
make_dm W wit "$(under linear "$w")"
good super "$C" -j
expect witness "$W" super_state clean
dd if=/dev/zero of="$W" bs=4096 count=1 oflag=direct 2>/dev/null
warned 'has no record of this cache' open nc --cache "$C" --origin "$O" --mode writethrough
[[ $err != *'the cache is empty now'* ]] || fail "open: $err"
empty "$W" 0
good status nc
[[ $out == *'a crash now'*'nothing cached: there is no witness'* ]] || fail "status: $out"
good status nc -j
expect witness null witness_state none

# The same when another device uses the witness.
good close nc
./intent "$C" witness "$W" 0
make_dm user user "$(under linear "$W")"
warned "witness device '$W' is in use by" open nc --cache "$C" --origin "$O" --mode writethrough
[[ $err == *'; opened without the witness: '* ]] || fail "open: $err"
table ''
dm_remove user
dd if=/dev/zero of="$W" bs=4096 count=1 oflag=direct 2>/dev/null

# A witness set while the device is in use: close must record it, also in the old witness.
good set nc witness="$W" --dry-run
empty "$W" 0
good set nc witness="$W" -j
expect changed true witness "$W" witness_before null
table "$W"
is witness 1
good set nc witness="$W"
[[ $out == *'were set already'* ]] || fail "set: $out"
full
valid=$(field bytes_valid)
good set nc witness="$V" mode=writearound -j
expect witness "$V" witness_before "$W" mode writearound
table "$V"
is witness 1
is bytes_valid "$valid"
[[ $(./intent "$C" said "$W" 0) != *' 0 4' ]] || fail "it has moved too early"
written_down
keep
after_crash
# A superblock that does not name the new witness yet: open with its name must find all data.
good open nc --cache "$C" --origin "$O" --witness "$V" --mode writethrough -j
expect content warm loaded recovered
moved "$W"
full
good close nc
good super "$C" -j
expect witness "$V" super_state clean
good open nc --cache "$C" --origin "$O" --mode writethrough -j
expect witness "$V" content warm
table "$V"
full
# The witness failed at the start of the session: to set it again must retry.
lies oth error "$v"
dmsetup suspend nc && dmsetup resume nc || fail "suspend"
is witness 2
good status nc
[[ $out == *'a crash now'*'nothing cached: the witness has no record'* ]] || fail "status: $out"
good status nc -j
expect witness_state cold
lies oth linear "$v"
good set nc witness="$V" -j
expect changed true witness "$V" witness_before "$V"
is witness 1
full
good set nc witness=none
table ''
is witness 0
good close nc
good open nc --cache "$C" --origin "$O" --mode writethrough
table "$V"

# close marks the record of the old witness; that of a witness never recorded is marked at once.
./intent "$C" witness "$V2" 0
good set nc witness="$V2"
good set nc witness="$W"
moved "$V2"
good close nc
moved "$V"
good open nc --cache "$C" --origin "$O" -j
expect content warm witness "$W"
good close nc
good open nc --cache "$C" --origin "$O" --witness "$V" --mode writethrough -j
expect content warm loaded warm
moved "$W"

# open adds a witness by name, and --witness none removes it.
keep
after_crash
good open nc --cache "$C" --origin "$O" --witness "$W" -j
expect witness "$W" content cold
moved "$V"
good close nc
good open nc --cache "$C" --origin "$O" --mode writethrough
table "$W"
full
good close nc
good open nc --cache "$C" --origin "$O" --witness none -j
expect witness null content warm
table ''
moved "$W"
good close nc
good super "$C" -j
expect witness ""
good open nc --cache "$C" --origin "$O"
table ''
good close nc
warned "'/dev/nowhere'" open nc --cache "$C" --origin "$O" --witness /dev/nowhere
table ''
good close nc

# The witness cannot be written: open must continue without it, and create must fail.
dd if=/dev/zero of="$W" bs=4096 count=1 oflag=direct 2>/dev/null
lies wit unwritable "$w"
warned "cannot write witness device" open nc --cache "$C" --origin "$O" --witness "$W"
table ''
bad 4 'cannot write witness device' set nc witness="$W"
table ''
good close nc
good super "$C" -j
expect witness "" super_state clean
bad 4 'cannot write witness device' create nc --cache "$C" --origin "$O" --witness "$W" --force
bad 4 'no nearcache superblock' open nc --cache "$C" --origin "$O"
lies wit linear "$w"
empty "$W" 0

# If the witness has a stable path, the helper must record it instead of a path that may change at
# reboot. Of several stable paths, it must record the one that the user gave.
[[ ! -e /dev/disk ]] || fail "there is udev here"
mkdir -p /dev/disk/by-id
at_exit rm -rf /dev/disk
make_null u unstable 1
for name in b-name a-name; do
	ln -s "$u" "/dev/disk/by-id/$name"
done
good create nc --origin "$O" --cache "$C" --block-size 64K --witness "$u" -j
expect witness /dev/disk/by-id/a-name
good close nc
good open nc --cache "$C" --origin "$O" --witness /dev/disk/by-id/b-name -j
expect witness /dev/disk/by-id/b-name
table "$u"
good close nc
./intent "$C" said "$u" 0 >/dev/null || fail "no record"
good super "$C" -j
expect witness /dev/disk/by-id/b-name
good open nc --cache "$C" --origin "$O" --witness none
good close nc
moved "$u"

# A new cache device must get its own record, and the old device keep its record.
good open nc --cache "$C" --origin "$O" --mode writethrough --witness "$W"
full
make_null spare spare 12
given_up
good status nc
[[ $out == *'a crash now'*'would leave nothing cached'* ]] || fail "status: $out"
lies slice linear
run attach nc --cache "$spare" --format-cache --block-size 64K
[[ $rc == 0 ]] || fail "attach: $err"
is state 0
is witness 1
./intent "$spare" said "$W" 1 >/dev/null || fail "no record"
./intent "$C" said "$W" 0 >/dev/null || fail "the old record is gone"
full
good close nc
good super "$spare" -j
expect witness "$W" super_state clean

# destroy must free the record; if the witness is missing, it must warn that the record stays.
good destroy --cache "$C" --dry-run
[[ $out == *'would free the record on'*"$W"* ]] || fail "destroy: $out"
good destroy --cache "$C" -j
expect witness "$W" destroyed true
empty "$W" 0
good open nc --cache "$spare" --origin "$O" --mode writethrough
good destroy nc
empty "$W" 1
good create nc --origin "$O" --cache "$C" --witness "$W" --block-size 64K
good close nc
dm_remove wit
warned 'the record of the cache stays there' destroy --cache "$C"
