#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The stream of a plan while requests to the origin are held: it asks for the data in the order of the
# plan, a late read joins a fill, a write makes a fill stale, a failed read is left to the reader. The
# stream leaves out data that a reader has read at the origin. A plan that is cleared, or handed over
# without prefetch, brings nothing.
# kernels: 6.12
# cpus: 1
. ./gate.sh

# planned BLOCK...: submit a plan of these blocks; $more_words are words of its last request.
planned() {
	local block words=()
	for block; do
		words+=("range=length=65536,start=$((block * 65536))")
	done
	./genl plan-submit name=nc "${words[@]}" "plan=commit=1${more_words:-}" >/dev/null || fail "plan-submit $*"
}

# begin MODE: as between, without a plan.
begin() {
	[[ ! ${gate_live:-} ]] || ./genl plan-clear name=nc >/dev/null || fail "plan-clear"
	between "$1"
}

# The reads come in the order of the plan; a reader joins one in flight, and another one hits.
in_order() {
	local joins misses
	begin read-only
	now joins joins
	now misses misses
	gate hold origin read
	planned 9 3 12
	gate held origin 3
	[[ $REPLY == *1152*384*1536* ]] || fail "order: $REPLY"
	gate read a "$NC" 384 128
	gate until nc joins '>' "$joins"
	gate_open
	ends a 1x128
	gate until nc fills_in_flight = 0
	gets 1152 128 1x128
	gets 1536 128 1x128
	more misses "$misses" 0
	agrees 0 2048 1x2048
}

# A write meanwhile: the stream brings the new data.
written() {
	local stale before misses
	begin writearound
	now stale fills_stale
	now before prefetched_bytes
	gate hold origin read
	planned 20
	gate held origin 1
	gate write w "$NC" 2 2560 128
	ends w 'done'
	gate_open
	gate until nc fills_in_flight = 0
	more fills_stale "$stale"
	gate until nc prefetched_bytes = $((before + 65536))
	gate until nc fills_in_flight = 0
	now misses misses
	gets 2560 128 2x128
	more misses "$misses" 0
	agrees 2560 128 2x128
}

# A write drops data that the stream has brought: the stream brings the new data.
dropped() {
	local before misses
	begin writearound
	now before prefetched_bytes
	planned 60 61 62
	gate until nc prefetched_bytes = $((before + 3 * 65536))
	gate until nc fills_in_flight = 0
	puts 2 $((61 * 128)) 128
	gate until nc prefetched_bytes = $((before + 4 * 65536))
	gate until nc fills_in_flight = 0
	now misses misses
	gets $((61 * 128)) 128 2x128
	more misses "$misses" 0
	agrees $((60 * 128)) 384 '1x128 2x128 1x128'
}

# The origin fails a read of the stream: the reader repeats it.
failed() {
	begin read-only
	gate hold origin read
	planned 30 31
	gate held origin 2
	gate let origin all fail
	gate_open
	gate until nc fills_failed_origin '>' 0
	gets 3840 128 1x128
	agrees 3840 256 1x256
}

# A reader overtakes the stream while no fill memory is left, and reads one block and half of another at
# the origin. The stream, which was about to bring both, brings only the half that was not read.
overtaken() {
	local OPTIONS='4 cache_timeout 0 fill_memory 2097152' before block
	begin read-only
	now before prefetched_bytes
	# Hold the reads of all blocks but 40 and 45.
	gate hold origin read 0 $((40 * 128))
	gate hold origin read $((41 * 128)) $((4 * 128))
	gate hold origin read $((46 * 128)) $((54 * 128))
	planned {0..49}
	gate until nc fills_in_flight '>' 3
	# Other reads take the rest of the memory.
	for ((block = 60; block < 100; block++)); do
		gate read "r$block" "$NC" $((block * 128)) 128
	done
	gate until nc fills_in_flight '>' 30
	gets $((40 * 128)) 128 1x128
	gets $((45 * 128)) 64 1x64
	gate_open
	for ((block = 60; block < 100; block++)); do
		ends "r$block" 1x128
	done
	gate until nc prefetched_bytes '>' $((before + 48 * 65536))
	gate until nc fills_in_flight = 0
	more prefetched_bytes "$before" $((48 * 65536 + 32768))
	now before misses
	gets $((45 * 128 + 64)) 64 1x64
	more misses "$before" 0
	gets $((40 * 128)) 128 1x128
	more misses "$before"
}

# Without prefetch, and after a clear, only readers read the origin.
unwanted() {
	local before
	begin read-only
	more_words=,no-prefetch=1
	planned 40 42 44
	now before fills
	gets 5120 128 1x128
	gate until nc fills_in_flight = 0
	more fills "$before"
	more_words=
	gate hold origin read
	planned 40 42 44
	gate held origin 2
	./genl plan-clear name=nc >/dev/null || fail "plan-clear"
	gate_open
	gate until nc fills_in_flight = 0
	now before fills
	gets 6144 128 1x128
	gate until nc fills_in_flight = 0
	more fills "$before"
	# The table can be replaced and removed while a stream waits for the origin.
	gate hold origin read
	planned 50 52
	gate held origin 2
	gate_open
	between writethrough
	planned 50 52
	agrees 6400 384 1x384
}

gates 8 16
in_order
written
dropped
failed
overtaken
unwanted
stop
