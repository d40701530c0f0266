#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a witness: create, open, set, attach and destroy keep its record, what a crash in
# a writing mode leaves is told before and found after it, and a witness that is missing stops
# nobody.
# kernels: 6.12
# timeout: 300
. ./given_up.sh
. ./command.sh

NC=/dev/mapper/nc
region=2048 # sectors

# warned TEXT WORDS...: must succeed, with this warning.
warned() {
	run "${@:2}"
	[[ $rc == 0 && $err == *"warning: "*"$1"* ]] || fail "nearcache ${*:2}: exit $rc, no '$1' in '$err'"
}

# keep: what a power cut would leave on cache device and witness; after_crash: it was cut then.
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

# moved DEV: its record 0 says that the cache has another witness, or none.
moved() {
	[[ $(./intent "$C" said "$1" 0) == *' 0 4' ]] || fail "record 0 of $1 (line ${BASH_LINENO[0]})"
}

# copy: to $TMPDIR/older; put_back: the cache device is what it was then.
copy() {
	blockdev --flushbufs "$local"
	dd if="$local" of="$TMPDIR/older" bs=1M iflag=direct 2>/dev/null || fail "dd"
}

put_back() {
	dd if="$TMPDIR/older" of="$local" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "dd"
}

# outdated GENERATION: the copy does not count, and all is as it was afterwards.
outdated() {
	put_back
	good open nc --cache "$C" --origin "$O" --mode writethrough -j
	expect content cold
	get $((region * 3)) 8 "$1"
	put $((region * 3)) 8 1
	full
}

# says DEV N EXPECTED: what a record tells of this cache.
says() {
	same "record $2 of $1" "$(./intent "$C" said "$1" "$2")" "$3"
}

# empty DEV N: nobody's record.
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

# full: all of the origin is cached, and the medium knows.
full() {
	get 0 $((8 * region)) 1
	settle
	written_down
}

# table WITNESS: the live table names it, or none.
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

# A record, before the superblock says so; its path is that of the user.
good create nc --origin "$O" --cache "$C" --witness "$W" --block-size 64K --dry-run -j
expect witness "$W"
empty "$W" 0
# On a busy machine any device is slow.
good create nc --origin "$O" --cache "$C" --witness "$W" --block-size 64K --mode writethrough --cache-timeout 0 -j
expect witness "$W" super_state clean
json_keys name mode origin cache table uuid super_state witness session
table "$W"
full

# What a crash would cost, now and after a write.
good status nc
[[ $out == *"a crash now"*"would leave it warm"* && $out == *"witness"*"$W"* ]] || fail "status: $out"
[[ $out != *'regions being written'* ]] || fail "status: $out"
says "$W" 0 "3 0 1"
# A mark stays for 2 s at least.
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
# Where all that took its time, the mark is gone.
put $((region * 3)) 8 2
keep
after_crash
good super "$C" -j
expect super_state writing next_open warm witness "$W" session 3
good super "$C"
[[ $out == *'warm, but for 1 region of 1 MiB'* ]] || fail "super: $out"

# It is warm, but for that region; in read-only mode too.
good open nc --cache "$C" --origin "$O" --dry-run
[[ $out == *'kept over a crash, but for 1 region of 1 MiB'* ]] || fail "open: $out"
good open nc --cache "$C" --origin "$O" -j
expect content warm loaded recovered witness "$W" changed null mode read-only
is bytes_valid $((7 << 20))
origin_mark
get 0 $((region * 3)) 1
same "bytes from the origin" "$(origin_delta)" 0
get $((region * 3)) 8 2
good close nc

# Its ends were changed by another host meanwhile: found, unless it wrote to them itself.
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

# A copy of the cache device from before: it was stopped cleanly, and is not what it was.
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
# Also when the witness cannot be used any more.
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
# Also when another one is named, which knows nothing, or none, or one that is not there; and
# whatever else was changed meanwhile.
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
# Who just does without for a while, and did not write, is none of those.
good open nc --cache "$C" --origin "$O" --witness none -j
expect content warm
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" -j
expect content warm loaded warm
good close nc
# Also when it has a witness no more: there it stands what has become of its cache.
good open nc --cache "$C" --origin "$O" --witness "$V" --mode writethrough
put $((region * 3)) 8 4
good close nc
put_back
warned 'has no record of this cache' open nc --cache "$C" --origin "$O" -j
expect content dropped
get $((region * 3)) 8 4
good close nc
# Or when it came back to that one, to read only.
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
# Or when it wrote without any in between: before it came back,
good close nc
copy
good open nc --cache "$C" --origin "$O" --witness none --mode writethrough
put $((region * 3)) 8 4
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" -j
expect content warm
good close nc
outdated 4
# or for a while; and where the one that is recorded could not be used.
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
# Cut off before the witness knew of the number: nothing is lost. A copy of that is told when
# another one is the witness, though its number is higher than what this one had seen.
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
# A crash before the superblock named another one: emptied once, and without a witness then.
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
# Or of a copy that names none, of a cache that has had this one since.
good close nc
good open nc --cache "$C" --origin "$O" --witness none
good close nc
put_back
good open nc --cache "$C" --origin "$O" --witness "$W" --mode writethrough -j
expect content dropped witness "$W"
get $((region * 3)) 8 7
put $((region * 3)) 8 1
full
# Cut off before the record of one that comes back is written: as it was.
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
# Set while it only reads, and another one then: as it was.
good open nc --cache "$C" --origin "$O" --witness none
good set nc witness="$W"
good set nc witness="$V"
good close nc
good open nc --cache "$C" --origin "$O" --witness "$W" -j
expect content warm witness "$W"
good close nc
# Set again while it only reads: what the superblock does not know yet is not news.
good open nc --cache "$C" --origin "$O" --witness none
good set nc witness="$W"
keep
after_crash
good open nc --cache "$C" --origin "$O" --witness "$W" --mode writethrough -j
expect content warm witness "$W"
full

# Missing, or somebody else's: it opens, and says what that costs.
put $((region * 3)) 8 1
keep
after_crash
dm_remove wit
warned "witness device '$W': No such file or directory; opened without it" open nc --cache "$C" --origin "$O" -j
[[ $err == *'nothing is cached now'* ]] || fail "open: $err"
expect content cold witness null loaded unclean
table ''
get 0 64 1
good close nc
make_dm W wit "$(under linear "$w")"
good super "$C" -j
expect witness "$W" super_state clean
dd if=/dev/zero of="$W" bs=4096 count=1 oflag=direct 2>/dev/null
warned 'has no record of this cache' open nc --cache "$C" --origin "$O" --mode writethrough
[[ $err != *'nothing is cached now'* ]] || fail "open: $err"
empty "$W" 0
good status nc
[[ $out == *'a crash now'*'nothing cached: there is no witness'* ]] || fail "status: $out"
good status nc -j
expect witness null witness_state none

# In use by somebody else: the same.
good close nc
./intent "$C" witness "$W" 0
make_dm user user "$(under linear "$W")"
warned "witness device '$W' is in use by" open nc --cache "$C" --origin "$O" --mode writethrough
[[ $err == *'; opened without it: '* ]] || fail "open: $err"
table ''
dm_remove user
dd if=/dev/zero of="$W" bs=4096 count=1 oflag=direct 2>/dev/null

# Named while it is in use; close records it, and the old record says so.
good set nc witness="$W" --dry-run
empty "$W" 0
good set nc witness="$W" -j
expect changed true witness "$W" witness_before null
table "$W"
is witness 1
good set nc witness="$W"
[[ $out == *'so already'* ]] || fail "set: $out"
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
# The superblock does not know of it yet: who names it finds all there.
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
# It failed when the session began: named again, it is asked again.
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

# Recorded by close: the one before knows. One that never was is told at once.
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

# Named at open; none forgets it.
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

# It cannot be written: the same, but what is made anew is not made.
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

# A path that may be another device's after a reboot is not what is recorded, if there is a
# better one; which of those is the user's choice.
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

# A new cache device gets a record; the one before keeps its own.
good open nc --cache "$C" --origin "$O" --mode writethrough --witness "$W"
full
make_null spare spare 12
given_up
good status nc
[[ $out == *'a crash now'*'would leave nothing cached'* ]] || fail "status: $out"
lies slice linear
run attach nc --cache "$spare" --format --block-size 64K
[[ $rc == 0 ]] || fail "attach: $err"
is state 0
is witness 1
./intent "$spare" said "$W" 1 >/dev/null || fail "no record"
./intent "$C" said "$W" 0 >/dev/null || fail "the old record is gone"
full
good close nc
good super "$spare" -j
expect witness "$W" super_state clean

# Destroyed: the record is nobody's. Without the witness it stays, and that is told.
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
