#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Threads write and read everywhere while dm-flakey lets the cache device fail, lose writes and
# corrupt data: the threads must get no error and no wrong data. Then the origin fails: readers get
# errors for data that is not cached, and right data otherwise.
# kernels: 6.12
# cpus: 1
# when: soak
. ./cache.sh
. ./stressing.sh
INTEGRITY=crc32c

# flakey NAME DEV [FEATURES]: put dm-flakey below NAME; without FEATURES all I/O fails.
flakey() {
	dmsetup load "$1" --table "0 $(sectors "$2") flakey $2 0 0 3600 ${3:-}" &&
		dmsetup resume "$1" || fail "flakey $1: ${3:-}"
}

healthy() {
	dmsetup load "$1" --table "0 $(sectors "$2") linear $2 0" && dmsetup resume "$1" ||
		fail "healthy $1"
}

# phase FEATURES: let the cache device misbehave for a while; then it works and is used again. $seen
# is the number of damaged sub-blocks that the cache found. Loaded again after a bypass, the device
# gets a new cache, whose counter starts at 0.
phase() {
	local before
	before=$(field damaged)
	flakey local "$local" "$1"
	go_on "$((${SOAK:+2 *} 75))" "$1"
	healthy local "$local"
	seen=$(($(field damaged) - before))
	[[ $(field state) != 1 ]] || reload || fail "the cache device was not taken back"
	wait_for 30 in_use || fail "not in use: $(dmsetup status nc)"
	before=$(field damaged)
	go_on "$((${SOAK:+2 *} 75))" "$1, and then not"
	seen=$((seen + $(field damaged) - before))
}

# can_corrupt: can dm-flakey corrupt data? That of kernel 6.1 cannot corrupt reads, and corrupts
# writes in the memory of the writer, which no real device does.
can_corrupt() {
	local probe differ
	make_dm probe probe "0 8 flakey $base 0 0 3600 5 corrupt_bio_byte 100 r 7 0"
	! cmp -s -n 512 <(dd if="$probe" bs=512 count=1 iflag=direct 2>/dev/null) \
		<(dd if="$base" bs=512 count=1 iflag=direct 2>/dev/null)
	differ=$?
	dm_remove probe
	return $differ
}

in_use() {
	[[ $(field state) == 0 ]]
}

make_null base origin 32 discard=1
make_null local local 6
make_dm O slow "0 $(sectors "$base") delay $base 0 2 $base 0 1"
make_dm C local "0 $(sectors "$local") linear $local 0"
./stress init "$base" "$TMPDIR/model"
format
MODE=writethrough start
export MODE=writethrough
stress_begin /dev/mapper/nc
go_on "$((${SOAK:+2 *} 75))" start
for ((round = 0; round < $(times 1); round++)); do
	phase ''
	phase '1 error_writes'
	if can_corrupt; then
		phase '5 corrupt_bio_byte 100 r 7 0'
		((seen)) || fail "no damage was seen"
		phase '5 corrupt_bio_byte 513 w 9 0'
		((seen)) || fail "no damage was seen"
	fi
	phase '1 drop_writes'
	((seen)) || fail "no lost write was seen"
done
stress_end || fail "wrong: $(cat "$TMPDIR/log")"
cat "$TMPDIR/log"
settle
is write_errors 0
stop
./stress verify "$base" "$TMPDIR/model" || fail "the origin differs from the data that was read"
start
./stress verify /dev/mapper/nc "$TMPDIR/model" || fail "wrong after the restart"
stop

# The origin fails: reads of cached data still succeed; reads of other data get an error.
./blockdata write "$base"
dm_remove slow
make_dm O remote "0 $(sectors "$base") linear $base 0"
MODE=read-only
format
start
for ((at = 0; at < 4096; at += 1024)); do
	check -s $at -n 512 >/dev/null
done
settle
verify_begin -n 4096 -b 1:64 -a 1 -r 100 -t 3 -e
flakey remote "$base"
hits=$(field hits)
for ((at = 0; at < 4096; at += 1024)); do
	check -s $at -n 512 >/dev/null
	! ./blockdata read /dev/mapper/nc -s $((at + 16384)) -n 512 >/dev/null 2>&1 ||
		fail "read without the origin"
done
above hits "$hits"
healthy remote "$base"
check -n 24576 >/dev/null
verify_end
is damaged 0
is state 0
is hit_errors 0
