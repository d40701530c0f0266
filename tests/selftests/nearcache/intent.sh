#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A session that writes, with a witness: a crash leaves what is cached, less what was being
# written, unless the cache device left before; each record in doubt means a cold start.
# kernels: 6.1
# cpus: 1
. ./witnessed.sh

MODE=writethrough

# crash: put into $X and $V what is on the cache device and its witness now.
crash() {
	local from
	# Nothing is cleared while it is copied.
	dmsetup suspend --noflush --nolockfs --noudevsync cache || fail "suspend"
	for from in "$c $X" "$W $V"; do
		blockdev --flushbufs "${from% *}"
		dd if="${from% *}" of="${from#* }" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
	done
	dmsetup resume --noudevsync cache || fail "resume"
}

# again [OPTIONS]: from what the crash left.
again() {
	start nc "${1-4 cache_timeout 0 witness $V}" "$O" "$X"
}

# put FIRST COUNT GENERATION: through the cache.
put() {
	./blockdata write "$NC" -s "$1" -n "$2" -g "$3" || fail "write"
}

swept() {
	[[ $(field intent_regions) == 0 && -z $(./intent "$C" marks) ]]
}

make_null O origin 10
make_null c local 16
make_dm C cache "0 $(sectors "$c") linear $c 0"
make_null X crashed 16
make_null S saved 16
make_null W witness 1
make_null V left 1
all=$((10 << 20))

# What was just written is in doubt, by regions; nothing else is.
for MODE in writearound writethrough; do
	session
	put $((region * 5 + 8)) 8 2
	put $((region * 8 - 8)) 16 2
	is intent_regions 3
	crash
	same "marks" "$(./intent "$X" marks | tr '\n' ' ')" "5 7 8 "
	same "marked" "$(field intent_marks)" 3
	stop
	same "state after the stop" "$(./sbset "$C" get state)" 0
	again
	is loaded 5
	is bytes_valid $((all - (3 << 20)))
	is slots_dropped 48
	origin_mark
	get 0 $((region * 5)) 1
	same "origin bytes" "$(origin_delta)" 0
	get $((region * 5 + 8)) 8 2
	get $((region * 8 - 8)) 16 2
	put $((region * 2)) 8 3
	stop
	again
	is loaded 2
	get $((region * 5 + 8)) 8 2
	get $((region * 2)) 8 3
	stop
done

# When nobody writes any more, the marks go, and nothing is in doubt.
session
put $((region * 3)) 64 2
wait_for 30 swept || fail "marks stay: $(./intent "$C" marks)"
valid=$(field bytes_valid)
crash
stop
again
is loaded 5
is bytes_valid "$valid"
origin_mark
get $((region * 3)) 64 2
get $((region * 4)) $region 1
same "origin bytes" "$(origin_delta)" 0
# And they come back.
put $((region * 3)) 8 3
same "marks" "$(./intent "$X" marks)" 3
stop

# saved: the crash again that $S was kept from.
saved() {
	dd if="$S" of="$X" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
}

# Each of these is doubt about everything: nothing is served.
cold() {
	is loaded 3
	is bytes_valid 0
	get 0 $((region * 3)) 1
	stop
}

session
put $((region * 5)) 8 2
crash
stop
dd if="$X" of="$S" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
same "said" "$(./intent "$X" said "$V" 0)" "3 0 1"
again ''
cold
# What the witness says: it left; the session ended, and this is a copy of before that;
# nothing; of a session that is not this one, or of the one before it.
same "said at the end" "$(./intent "$C" said "$W" 0)" "4 0 3"
for says in "3 0 2" "4 0 3" "3 0 3" "3 0 4" "3 0 0" "4 0 1" "2 0 1" "4 2 1"; do
	saved
	# shellcheck disable=SC2086
	./intent "$X" say "$V" 0 $says
	again
	cold
done
# No record of this cache.
saved
dd if=/dev/zero of="$V" bs=4096 count=1 oflag=direct 2>/dev/null
again
cold
# A next session that had not begun yet, when the power went: this one counts, with its
# marks, or with those of the next one.
for empty in '' 1; do
	saved
	./intent "$X" say "$V" 0 4 3 1
	[[ ! $empty ]] || ./intent "$X" empty 4
	again
	is loaded 5
	is bytes_valid $((all - (empty ? 0 : 1 << 20)))
	[[ $empty ]] || get $((region * 5)) 8 2
	stop
done
# Nobody knows of the session that emptied the bitmap: it may have begun with nothing.
saved
./intent "$X" say "$V" 0 3 0 1
./intent "$X" empty 4
again
cold
# A copy from before, of a session that ended well: the witness has seen a later one, and the
# numbers go on from there.
session
stop
dd if="$C" of="$X" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
start nc "4 cache_timeout 0 witness $W"
put $((region * 5)) 8 2
stop
dd if="$W" of="$V" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
same "said" "$(./intent "$X" said "$V" 0)" "6 0 3"
MODE=read-only
again
cold
again
is loaded 2
stop
MODE=writethrough
again
is loaded 2
same "said" "$(./intent "$X" said "$V" 0)" "7 0 1"
get $((region * 5)) 8 2
stop

# A session that goes on without marks: neither a copy from before counts any more, nor
# one from when it had marks.
session
put $((region * 5)) 8 2
crash
dmsetup suspend --noflush --nolockfs --noudevsync nc
dmsetup resume --noudevsync nc
same "state on the medium" "$(./sbset "$C" get state)" 1
same "said" "$(./intent "$C" said "$W" 0)" "4 0 2"
put $((region * 6)) 8 2
stop
same "said" "$(./intent "$C" said "$W" 0)" "5 0 3"
dd if="$W" of="$V" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
again
cold

# A sector of the bitmap that is damaged names all of its regions, and the first one the
# ends; there is nothing where the second one is for.
for sector in 0 1; do
	saved
	./intent "$X" say "$V" 0 3 0 1
	./intent "$X" flip $sector
	again
	((sector)) || cold
done
is loaded 5
is bytes_valid $((all - (1 << 20)))
stop

# The ends of the origin tell whether others wrote to it, unless they were being written.
session
put 0 8 2
crash
same "marks" "$(./intent "$X" marks | tr '\n' ' ')" "0 ends "
stop
./blockdata write "$O" -n 8
again
cold

# The ends, when they are written no more: the superblock has their fingerprint.
session
put 0 8 2
wait_for 30 swept || fail "marks stay: $(./intent "$C" marks)"
crash
stop
again
is loaded 5
get 0 8 2
get 8 $((region * 2)) 1
stop
