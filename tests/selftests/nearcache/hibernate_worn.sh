#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache is bypassed because its worn-out cache device can be read, but not written. The witness is
# missing when the system hibernates, and appears some time after the resume. The superblock has not
# changed, so no other system used the cache device: writes go on, and the next load is cold.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# allow-log: I/O error
# when: soak
. ./sleeping.sh

make_dm O origin "0 $((48 * 2048)) linear $(remote_backing) 0"
make_dm C local "0 $((32 * 2048)) linear $(local_dev) 0"
make_dm W witness "0 2048 linear $(local_dev) $((64 * 2048))"
good=$(dmsetup table local) seen=$(dmsetup table witness)
./blockdata write "$O"
format
./intent "$C" witness "$W" 0
modprobe dm-flakey || skip "no dm-flakey"
MODE=writearound start nc "4 cache_timeout 0 witness $W"
again
becomes witness "0 $(sectors "$W") error"
written_down
same "state of the superblock" "$(./sbset "$C" get state)" 1
becomes local "0 $(sectors "$C") flakey ${good#*linear } 0 3600 1 error_writes"
bypassed() {
	./blockdata read /dev/mapper/nc -s "$HALF" -n 8192 >/dev/null || fail "wrong data"
	[[ $(field state) == 1 ]]
}
wait_for 60 bypassed || fail "not bypassed"

image
# An invalidation fails with EIO until the cache has compared the superblock.
compared() {
	dmsetup message nc 0 invalidate all 2>/dev/null
}
wait_for 60 compared || fail "not compared: $(log_since)"
./blockdata write /dev/mapper/nc -n 2048 -g 2 || fail "writes fail: $(log_since)"
becomes witness "$seen"
./blockdata write /dev/mapper/nc -s 2048 -n 2048 -g 2 || fail "writes fail: $(log_since)"
stop
becomes local "$good"
MODE=writearound start nc "4 cache_timeout 0 witness $W"
is loaded 3
./blockdata read /dev/mapper/nc -n 4096 -g 2 || fail "old data"
stop
