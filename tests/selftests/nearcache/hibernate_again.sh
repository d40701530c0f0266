#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While the system slept, the cache device was set back to an older state, and another system used it
# until its superblock and commits had the same numbers again. All cached data must be dropped.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# when: soak
. ./sleeping.sh

# copy FROM TO: copy the cache device or a copy of it.
copy() {
	dd if="$1" of="$2" bs=1M iflag=direct oflag=direct conv=notrunc 2>/dev/null || fail "copy $1 to $2"
}

begin
stop
copy "$C" "$TMPDIR/before"
start nc "2 cache_timeout 0"
copy "$C" "$TMPDIR/other"
other=$(./sbset "$C" get sequence)
stop
copy "$TMPDIR/before" "$C"
start nc "2 cache_timeout 0"
same "sequence of the superblock" "$(./sbset "$C" get sequence)" "$other"
log_mark
copy "$TMPDIR/other" "$C"
unsaved
log_since | grep -q "was changed while this system slept: starting cold" || fail "not dropped: $(log_since)"
check -n "$HALF"
stop
