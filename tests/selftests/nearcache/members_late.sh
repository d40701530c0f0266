#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Members of one cache that do not agree: the first member from before or after a cold start, which
# must never be accepted again; a commit that a crash recorded only on the other members; and a
# member that cannot record the begin of a session.
# kernels: 6.12
# cpus: 1
. ./several.sh

# lies TARGET ARGS...: replace the table of $D by one of this target, of the same size.
lies() {
	local size
	size=$(sectors "$under")
	echo "0 $size $1 $under 0 ${*:2}" >"$TMPDIR/table"
	dmsetup load --noudevsync slice "$TMPDIR/table" && dmsetup resume --noudevsync slice ||
		fail "the slice becomes $*"
}

# says DEV KEY: print KEY of the newer superblock copy; later members write the copies in turn.
says() {
	nearcache super "$1" -j | sed -nE "s/^ *\"$2\": ([0-9]+),?\$/\1/p" | head -n 1
}

# epochs NUMBER: fail unless all members have this table epoch.
epochs() {
	local device
	for device in "${members[@]}"; do
		same "epoch of $device" "$(says "$device" table_epoch)" "$1"
	done
}

# refill: read other blocks into the slots; the superblocks must then have another epoch.
refill() {
	dd if=/dev/mapper/nc of=/dev/null bs=1M skip=2 iflag=direct 2>/dev/null
	check -b 128
	settle
}

make_null O origin 4
./blockdata write "$O"
several 4 4 4
under=${members[1]}
make_dm D slice "0 $(sectors "$under") linear $under 0"
members[1]=$D
behind "${members[@]:1}"
E=${members[2]}
make_null older older 4
make_null newer newer 4

# Take copies of the first member before and after all data was invalidated. A start with either
# copy must be cold, because the other members have been in use without it.
format_several
start
check -b 128
settle
stop
first=$(says "$C" table_epoch)
copied "$C" "$older"
start
dmsetup message nc 0 invalidate all || fail "invalidate"
refill
stop
epochs $((first + 1))
copied "$C" "$newer"
copied "$older" "$C"
cold 'was not in use with the others'
dmsetup message nc 0 invalidate 0 2048 || fail "invalidate"
check -b 128
settle
stop
epochs $((first + 2))
copied "$newer" "$C"
cold 'was not in use with the others'
stop
epochs $((first + 3))
# From this start on the members belong together.
start
warm
stop

# A crash during a commit: only the other members recorded its begin, not the first.
last=$(says "$C" commit_sequence)
for device in "$D" "$E"; do
	same "number of $device" "$(says "$device" commit_sequence)" "$last"
	./sbset "$device" set both commit_sequence $((last + 1))
	./sbset "$device" set both state 2
done
./sbset "$C" set both state 2
start
is loaded 5
warm
stop
for device in "${members[@]}"; do
	now=$(says "$device" commit_sequence)
	((now >= last + 2)) || fail "$device has commit $now, expected at least $((last + 2))"
done

# A member cannot record the begin of a write session. The first member must record this, so that a
# later start does not trust the member.
for MODE in writearound writethrough; do
	lies flakey 0 3600 1 error_writes
	dmesg -c >/dev/null
	start
	is state 1
	dmesg | grep -q "cache device $(number "$D") is bypassed" || fail "the log does not name it: $(dmesg)"
	check
	./blockdata write /dev/mapper/nc -g 2 || fail "write in $MODE"
	stop
	lies linear
	same "state after $MODE" "$(./sbset "$C" get state)" 1
	start
	is blocks_warm 0
	check -g 2
	./blockdata write /dev/mapper/nc || fail "write"
	check
	settle
	stop
done
