#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hibernation of a cache with two cache devices and a witness, in a writing mode: warm if all three are
# as before; cold if the second device was set back, or the witness knows a later session.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# when: soak
. ./sleeping.sh

# dropped WHY: the cache must have dropped everything, with this reason; cache the first half again.
dropped() {
	log_since | grep -q "$1: starting cold" || fail "not dropped: $(log_since)"
	is state 0
	is witness 1
	check
	dmsetup message nc 0 invalidate all
	again
}

make_dm O origin "0 $((48 * 2048)) linear $(remote_backing) 0"
make_dm C local "0 $((24 * 2048)) linear $(local_dev) 0"
make_dm D second "0 $((24 * 2048)) linear $(local_dev) $((32 * 2048))"
make_dm W witness "0 2048 linear $(local_dev) $((64 * 2048))"
./blockdata write "$O"
nearcache create fmt --cache "$C" --cache "$D" --origin "$O" --block-size 64K --format-only --force >/dev/null ||
	fail "create"
./intent "$C" witness "$W" 0
MODE=writearound start nc "6 cache_timeout 0 member $D witness $W"
again
is witness 1
unsaved
warm

# The second device is set back to the state before a commit.
dd if="$D" of="$TMPDIR/second" bs=1M iflag=direct 2>/dev/null || fail "copy"
check -s "$HALF" -n 2048
settle
written_down
dd if="$TMPDIR/second" of="$D" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "copy back"
unsaved
dropped "was changed while this system slept"

# Another system wrote to the origin in a later session, on a copy of the cache devices.
read -r session previous state <<<"$(./intent "$C" said "$W" 0)"
./intent "$C" say "$W" 0 $((session + 1)) "$previous" "$state"
unsaved
dropped "may be stale after this system slept, by its witness"
stop
