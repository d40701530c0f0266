#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# After an image of the memory was taken, cached data is used only if the cache device and the origin
# are as the memory has it: otherwise all of it is dropped, and the cache works on.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
. ./sleeping.sh

# dropped WHY: the cache must have dropped everything, with this reason, and must work on.
dropped() {
	log_since | grep -q "$1: starting cold" || fail "not dropped: $(log_since)"
	is state 0
	check
	settle
	above bytes_valid $((4 * MB))
	check
	stop
	start nc "2 cache_timeout 0"
	is loaded 2
	check
}

begin
unsaved
warm
# Somebody sets the cache device back to the state before an eviction, as an older snapshot would.
dd if="$C" of="$TMPDIR/image" bs=1M iflag=direct 2>/dev/null
./genl range-add name=nc "range=start=$((28 * MB)),length=$((20 * MB)),label=kept,flags=1" >/dev/null || fail "pin"
./genl job-submit name=nc "range=start=$((28 * MB)),length=$((20 * MB))" >/dev/null || fail "job"
full() {
	(($(field blocks_pinned) == 20 * 16))
}
wait_for 60 full || fail "not pinned: $(dmsetup status nc)"
settle
written_down
dd if="$TMPDIR/image" of="$C" bs=1M oflag=direct 2>/dev/null
unsaved
dropped "was changed while this system slept"

# Another host writes to the origin.
dmsetup message nc 0 invalidate all
again
./blockdata write "$O" -n 8 -g 2
unsaved
log_since | grep -q "has another origin than before this system slept: starting cold" || fail "$(log_since)"
./blockdata read /dev/mapper/nc -n 8 -g 2 || fail "old data"
./blockdata write "$O"
stop

# In a writing mode the fingerprint follows the writes of this system.
format
MODE=writearound start nc "2 cache_timeout 0"
./blockdata write /dev/mapper/nc -g 2
./blockdata write /dev/mapper/nc
again
unsaved
warm
