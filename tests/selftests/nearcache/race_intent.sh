#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The marks of the write intent are on the medium before the origin is written, and stay until the
# origin is flushed and the slot table committed, whichever writes come meanwhile. No writer waits
# longer for a mark than necessary.
# kernels: 6.12
# expect-log: nearcache: .*(does not answer|failed a flush|cannot be flushed)
. ./gate.sh

region=2048

# session MODE [TIMEOUT]: all of the origin is cached, and no region is marked.
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

# next_region: let $at point to a region that was not written yet.
next_region() {
	at=$((at + region))
}

# marked REGION...: exactly these regions are marked on the medium.
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
	# Meanwhile reads get the origin's data.
	gets $at 16 1x16
	# One more write waits for the same mark, another one for a mark of its own.
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
	# The region is marked already: a write does not wait.
	puts 3 $((at + 8)) 8
	marking
	puts 4 $((at + 100)) 8
	open_gates
	agrees $at 16 '2x8 3x8'
	unmarked
	marked
}

# A write that the origin has not completed keeps its mark; the mark of a completed one is cleared.
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

# A mark stays until a flush of the origin; that of a write during the flush until the next flush.
until_it_is_flushed() {
	next_region
	gate hold origin flush
	# One write sets both marks, so that one round clears both.
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

# A mark stays until the slot table on the medium no longer calls the old data valid.
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

# A stop waits for a write that waits for its mark, and the write completes.
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

# The cache device hangs: a write waits for its mark only until the timeout.
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

# An origin whose flush fails may have lost data of any marked region.
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
	# No writer has seen this error yet: the first flush gets it, the second one does not.
	gate flush first "$NC"
	ends first EIO
	gate flush second "$NC"
	ends second 'done'
}

# A write waits for a mark that is no longer needed: it must continue.
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
# Marks do not depend on the mode.
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
