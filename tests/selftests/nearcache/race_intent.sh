#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A mark of the write intent must be on the medium before the origin is written, and stay until the
# origin is flushed and the slot table committed, whatever is written meanwhile. No writer may wait
# longer for a mark than necessary.
# kernels: 6.1
# expect-log: nearcache: .*(does not answer|failed a flush|cannot be flushed)
# when: soak
. ./gate.sh

region=2048

# session MODE [TIMEOUT]: start a write session with all of the origin cached and no region marked.
session() {
	MODE=$1
	gate fill origin 1 0 "$gate_sectors"
	format
	./intent "$C" witness "$W" 0
	OPTIONS="4 cache_timeout ${2:-0} witness $W"
	start
	cached 0 "$gate_sectors"
	written_down
	at=0
	gate seen origin
	gate seen cache
}

# next_region: set $at to the first sector of a region that was not written yet.
next_region() {
	at=$((at + region))
}

# marked REGION...: fail unless just these regions are marked on the medium.
marked() {
	same "marks (line ${BASH_LINENO[0]})" "$(./intent "$C" marks | tr '\n' ' ')" "${*:+$* }"
}

marking() {
	gate hold cache write "$area" 256
}

open_gates() {
	gate pass cache
	gate pass origin
	gate let cache all
	gate let origin all
}

# seen DEVICE WORD: number of such requests since the last call.
seen() {
	local counts
	gate seen "$1"
	read -ra counts <<<"$REPLY"
	case $2 in
	writes) echo "${counts[1]}" ;;
	flushes) echo "${counts[2]}" ;;
	fua) echo "${counts[5]}" ;;
	esac
}

unmarked() {
	gate until nc intent_regions = "${1:-0}"
}

first_the_mark() {
	next_region
	marking
	gate write one "$NC" 2 $at 8
	gate held cache 1
	gate busy one
	same "writes of the origin" "$(seen origin writes)" 0
	marked
	# While the write waits for its mark, reads get the data of the origin.
	gets $at 16 1x16
	# A second write waits for the same mark, a third for a mark of its own.
	gate write two "$NC" 3 $((at + 8)) 8
	gate write three "$NC" 3 $((at + region)) 8
	gate busy two
	gate busy three
	open_gates
	ends one 'done'
	ends two 'done'
	ends three 'done'
	same "writes of the origin" "$(seen origin writes)" 3
	(($(seen cache fua) > 0)) || fail "the mark is not durable"
	marked $((at / region)) $((at / region + 1))
	# The region is marked already, so a write does not wait.
	puts 3 $((at + 8)) 8
	marking
	puts 4 $((at + 100)) 8
	open_gates
	agrees $at 16 '2x8 3x8'
	unmarked
	marked
}

# A region keeps its mark while a write is at the origin; after the last write it is cleared.
while_it_is_written() {
	next_region
	next_region
	puts 2 $at 8
	gate hold origin write $((at + region)) 8
	gate write slow "$NC" 2 $((at + region)) 8
	gate held origin 1
	unmarked 1
	marked $((at / region + 1))
	open_gates
	ends slow 'done'
	unmarked
	marked
	next_region
}

# A mark stays until a flush of the origin; a mark set during a flush, until the next flush.
until_it_is_flushed() {
	next_region
	gate hold origin flush
	# One write marks two regions, so that the module clears both marks in one round.
	puts 2 $((at + region - 8)) 16
	gate held origin 1
	marked $((at / region)) $((at / region + 1))
	puts 3 $((at + 8)) 8
	gate let origin all
	unmarked 1
	marked $((at / region))
	gate held origin 1
	marked $((at / region))
	open_gates
	unmarked
	marked
	next_region
}

# A mark stays until a commit has cleared the valid bits of the old data on the medium.
until_it_is_committed() {
	next_region
	gate hold cache write "$ring" 128
	puts 2 $at 8
	gate held cache 1
	gate until nc intent_regions = 1
	marked $((at / region))
	open_gates
	unmarked
	marked
}

# A write waits for its mark: a stop must wait for this write, which must complete.
while_it_stops() {
	next_region
	marking
	gate write one "$NC" 2 $at 8
	gate held cache 1
	dmsetup suspend --noudevsync nc &
	gate busy one
	open_gates
	ends one 'done'
	wait $! || fail "suspend"
	same "state on the medium" "$(./sbset "$C" get state)" 0
	dmsetup resume --noudevsync nc || fail "resume"
	marked
	is witness 1
	agrees $at 16 '2x8 1x8'
}

# The cache device hangs: a write waits for its mark up to cache_timeout.
who_waits_too_long() {
	next_region
	marking
	gate write one "$NC" 2 $at 8
	gate held cache 1
	ends one 'done'
	gate until nc witness = 2
	same "said" "$(./intent "$C" said "$W" 0)" "3 0 2"
	puts 2 $((at + region)) 8
	open_gates
	agrees $at 16 '2x8 1x8'
	is state 0
	OPTIONS="4 cache_timeout 0 witness $W" reload || fail "reload"
	is witness 1
	puts 2 $((at + 2 * region)) 8
	is intent_regions 1
}

# A flush of the origin fails: data of all marked regions may be lost.
flush_fails() {
	next_region
	gate fail origin flush
	puts 2 $at 8
	gate until nc witness = 2
	same "said" "$(./intent "$C" said "$W" 0)" "3 0 2"
	gate pass origin
	marked $((at / region))
	gate until nc bytes_valid = 0
	agrees $at 16 '2x8 1x8'
	# No user flush has reported this error yet: the next one must, the one after must not.
	gate flush first "$NC"
	ends first EIO
	gate flush second "$NC"
	ends second 'done'
}

# A write waits for a mark that becomes unnecessary: the write must continue.
needs_no_marks() {
	next_region
	marking
	gate write one "$NC" 2 $at 8
	gate held cache 1
	gate fail origin flush
	dmsetup message nc 0 invalidate all || fail "invalidate"
	gate pass origin
	ends one 'done'
	same "state on the medium" "$(./sbset "$C" get state)" 1
	puts 2 $((at + region)) 8
	gate let cache all fail
	gate pass cache
	agrees $at 16 '2x8 1x8'
}

gates 8 16 flush fua
make_null W witness 1
format
area=$(($(./sbset "$C" get 'area[2].offset') / 512))
ring=$(($(./sbset "$C" get 'area[1].offset') / 512))
at_exit gate_open
for mode in writearound writethrough; do
	session $mode
	first_the_mark
	while_it_stops
	stop
done
# Repeat some cases in writethrough mode: marks do not depend on the mode.
session writethrough
while_it_is_written
until_it_is_flushed
until_it_is_committed
stop
session writearound 300
who_waits_too_long
stop
session writethrough
flush_fails
stop
session writethrough
needs_no_marks
stop
