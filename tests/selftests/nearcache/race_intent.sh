#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The marks of write intent: on the medium before the origin is written, and there until the
# origin was flushed and the table committed, whoever writes meanwhile; and nobody waits for
# them longer than he has to.
# kernels: 6.12
# expect-log: nearcache: .*(does not answer|failed a flush|cannot be flushed)
. ./gate.sh

region=2048

# session MODE: all of the origin is cached, and nothing marked.
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

# next_region: nobody wrote there before.
next_region() {
	at=$((at + region))
}

# marked REGION...: what the medium says.
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

# seen DEVICE WORD: how many of these since the last time.
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
	# The origin is what counts meanwhile.
	gets $at 16 1x16
	# This one waits for the same mark, that one for its own.
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
	# Marked already: nobody waits.
	puts 3 $((at + 8)) 8
	marking
	puts 4 $((at + 100)) 8
	open_gates
	agrees $at 16 '2x8 3x8'
	unmarked
	marked
}

# A write that the origin has not completed keeps its mark, another one's goes.
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

# Until the origin is flushed, and for who writes during the flush until the next one.
until_it_is_flushed() {
	next_region
	gate hold origin flush
	# Both at once: the same sweep is for both.
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

# Until the table on the medium does not call valid any more what was there before.
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

# Neither does a stop wait for ever, nor is one who waits forgotten.
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

# The cache device stands, the write does not.
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

# What an origin lost that fails a flush, it may have lost of any marked region.
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
	# It was told to nobody who wrote, and may not be told again.
	gate flush first "$NC"
	ends first EIO
	gate flush second "$NC"
	ends second 'done'
}

# Who waits for a mark that the medium does not need any more waits for nothing.
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
# The marks are the same, whatever the mode.
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
