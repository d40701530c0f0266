#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While the system slept, another cache was created on the cache device. After the resume nothing may be
# written to the cache device, and readers get the origin's data.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# when: soak
. ./sleeping.sh

make_dm O origin "0 $((48 * 2048)) linear $(remote_backing) 0"
make_dm C local "0 $((32 * 2048)) linear $(local_dev) 0"
./blockdata write "$O"
format
dd if="$C" of="$TMPDIR/other" bs=1M iflag=direct 2>/dev/null
format
MODE=writearound start nc "2 cache_timeout 0"
again
dd if="$TMPDIR/other" of="$C" bs=1M oflag=direct 2>/dev/null

image
bypassed() {
	[[ $(field state) == 1 ]]
}
wait_for 60 bypassed || fail "not bypassed: $(log_since)"
./blockdata write /dev/mapper/nc -g 2
./blockdata read /dev/mapper/nc -g 2 || fail "wrong data"
stop
dd if="$C" bs=1M iflag=direct 2>/dev/null | cmp - "$TMPDIR/other" || fail "wrote to the cache device of another cache"
