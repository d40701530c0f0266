#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache device is bypassed in a writing mode when the system goes to sleep. Meanwhile another
# system fills the cache and stops it cleanly. After the resume writes go to the origin: the cache
# device must know of them before, so that no later load serves the other system's data.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# allow-log: I/O error
# when: soak
. ./sleeping.sh

# failing: let all I/O of the cache device fail.
failing() {
	dmsetup load local_c --table "0 $(sectors "$C") error" && dmsetup resume local_c || fail "error"
}

bypassed() {
	./blockdata read /dev/mapper/nc -n "$HALF" >/dev/null || fail "wrong data"
	[[ $(field state) == 1 ]]
}

make_dm O origin "0 $((48 * 2048)) linear $(remote_backing) 0"
make_dm C local_c "0 $((32 * 2048)) linear $(local_dev) 0"
good=$(dmsetup table local_c)
./blockdata write "$O"
format
start nc "2 cache_timeout 0"
again
stop
dd if="$C" of="$TMPDIR/warm" bs=1M iflag=direct 2>/dev/null || fail "copy"
MODE=writearound start nc "2 cache_timeout 0"
check -n "$HALF"
sequence=$(./sbset "$C" get sequence)
failing
wait_for 60 bypassed || fail "not bypassed"
dmsetup load local_c --table "$good" && dmsetup resume local_c || fail "linear"

dd if="$TMPDIR/warm" of="$C" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "copy back"
./sbset "$C" set both sequence $((sequence + 2))
log_mark
image
noticed() {
	log_since | grep -q "was changed while this system slept: starting cold"
}
wait_for 60 noticed || fail "not noticed: $(log_since)"
# After a crash, the next load would see this:
same "state of the superblock" "$(./sbset "$C" get state)" 1
./blockdata write /dev/mapper/nc -g 2
stop
start nc "2 cache_timeout 0"
is loaded 3
./blockdata read /dev/mapper/nc -g 2 || fail "old data"
stop
