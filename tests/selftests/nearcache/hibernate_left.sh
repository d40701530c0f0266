#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache device had left, by the witness, when the system went to sleep. Meanwhile another system used
# both and stopped them cleanly. After the resume the cache device is still missing here: before a write
# passes, the witness must record once more that it left, so that the next load is cold.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# allow-log: I/O error
. ./sleeping.sh

save() {
	dd if="$1" of="$2" bs=1M iflag=direct 2>/dev/null || fail "copy $1"
}

back() {
	dd if="$1" of="$2" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "restore $2"
}

make_dm O origin "0 $((48 * 2048)) linear $(remote_backing) 0"
make_dm C local "0 $((32 * 2048)) linear $(local_dev) 0"
make_dm W witness "0 2048 linear $(local_dev) $((64 * 2048))"
good=$(dmsetup table local)
./blockdata write "$O"
format
./intent "$C" witness "$W" 0
MODE=writearound start nc "4 cache_timeout 0 witness $W"
again
stop
save "$C" "$TMPDIR/c0"
save "$W" "$TMPDIR/w0"
# The other system:
MODE=writearound start nc "4 cache_timeout 0 witness $W"
stop
read -r later _ _ <<<"$(./intent "$C" said "$W" 0)"
save "$C" "$TMPDIR/c1"
save "$W" "$TMPDIR/w1"
back "$TMPDIR/c0" "$C"
back "$TMPDIR/w0" "$W"
MODE=writearound start nc "4 cache_timeout 0 witness $W"
becomes local "0 $(sectors "$C") error"
./blockdata write /dev/mapper/nc -s 8192 -n 8 -g 2 || fail "write"
is witness 2

back "$TMPDIR/w1" "$W"
image
recorded() {
	[[ $(./intent "$(local_dev)" said "$W" 0) == "$((later + 1)) 0 2" ]]
}
wait_for 60 recorded || fail "said $(./intent "$(local_dev)" said "$W" 0), later $later: $(log_since)"
./blockdata write /dev/mapper/nc -n 2048 -g 2 || fail "write"
stop
becomes local "$good"
back "$TMPDIR/c1" "$C"
MODE=writearound start nc "4 cache_timeout 0 witness $W"
is loaded 3
./blockdata read /dev/mapper/nc -n 2048 -g 2 || fail "old data"
stop
