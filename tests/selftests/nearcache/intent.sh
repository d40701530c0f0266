#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A write session with a witness. After a crash the cache must be warm except for the regions being
# written. It must be cold if the cache device left the session before, or if the record of the
# session is doubtful.
# kernels: 6.1
# cpus: 1
. ./witnessed.sh

MODE=writethrough

# crash: copy the cache device and its witness to $X and $V, as after a power cut.
crash() {
	local from
	# Suspend, so that no mark is cleared during the copy.
	dmsetup suspend --noflush --nolockfs --noudevsync cache || fail "suspend"
	for from in "$c $X" "$W $V"; do
		blockdev --flushbufs "${from% *}"
		dd if="${from% *}" of="${from#* }" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
	done
	dmsetup resume --noudevsync cache || fail "resume"
}

# again [OPTIONS]: start a cache from the copies $X and $V.
again() {
	start nc "${1-4 cache_timeout 0 witness $V}" "$O" "$X"
}

# put FIRST COUNT GENERATION: write through the cache.
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

# A crash puts the regions of the last writes in doubt, and nothing else.
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

# When writing stops, the module clears the marks: a crash puts nothing in doubt.
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
# A later write marks its region again.
put $((region * 3)) 8 3
same "marks" "$(./intent "$X" marks)" 3
stop

# saved: restore the crash from its copy $S.
saved() {
	dd if="$S" of="$X" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
}

# cold: fail unless the cache started empty, as everything is in doubt.
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
# Each of these witness records means a cold start: the device left; the session ended later, so the
# cache device is an older copy; there was no session; the record is of an unrelated session.
same "said at the end" "$(./intent "$C" said "$W" 0)" "4 0 3"
for says in "3 0 2" "4 0 3" "3 0 3" "3 0 4" "3 0 0" "4 0 1" "2 0 1" "4 2 1"; do
	saved
	# shellcheck disable=SC2086
	./intent "$X" say "$V" 0 $says
	again
	cold
done
# Cold: the witness has no record of this cache.
saved
dd if=/dev/zero of="$V" bs=4096 count=1 oflag=direct 2>/dev/null
again
cold
# The power failed while the next session was about to begin: the marks of this session count, or no
# marks if the empty write intent of the next session is already written.
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
# Cold: the write intent is of a session that the witness does not know, so marks may be missing.
saved
./intent "$X" say "$V" 0 3 0 1
./intent "$X" empty 4
again
cold
# A copy of a session that ended cleanly, while the witness has seen a later session: the cache
# starts cold, and session numbers continue from the witness.
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

# A session continues without marks after a suspend. A copy of the cache device from the time with
# marks, or from before, lacks later writes: it must be cold.
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

# A damaged sector of the write intent puts all of its regions in doubt; damage of the first sector
# also puts the ends of the origin in doubt. The second sector has no region of this origin.
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

# If the ends of the origin are marked, their fingerprint cannot show a write by others: cold.
session
put 0 8 2
crash
same "marks" "$(./intent "$X" marks | tr '\n' ' ')" "0 ends "
stop
./blockdata write "$O" -n 8
again
cold

# fingerprint DEV: print the first bytes of the recorded fingerprint of the ends.
fingerprint() {
	local i
	for i in {0..7}; do
		./sbset "$1" get "origin_fingerprint[$i]"
	done
}

# Once no writer writes to the ends any more, the module records their new fingerprint: the same
# that a clean stop records.
session
put 0 8 2
wait_for 30 swept || fail "marks stay: $(./intent "$C" marks)"
valid=$(field bytes_valid)
crash
stop
same "fingerprint" "$(fingerprint "$X")" "$(fingerprint "$C")"
again
is loaded 5
is bytes_valid "$valid"
get 0 8 2
get 8 $((region * 2)) 1
stop
