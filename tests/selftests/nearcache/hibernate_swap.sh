#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The image of the memory is written through the cache itself. So writes come after the image was
# taken, when all tasks are frozen: each must be recorded before, so that the resumed kernel, which does
# not know of them, drops all cached data.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# when: soak
. ./sleeping.sh

make_dm O origin "0 $((948 * 2048)) linear $(remote_backing) 0"
make_dm C local "0 $((32 * 2048)) linear $(local_dev) 0"
./blockdata write "$O" -n $((48 * 2048))
format
MODE=writearound start nc "2 cache_timeout 0"
again
make_swap /dev/mapper/nc $((48 * 2048))
sequence=$(./sbset "$C" get sequence)
echo disk >/sys/power/state || fail "hibernation: $(dmesg | tail -n 5)"
awake
log_since | grep -q "was changed while this system slept: starting cold" || fail "not dropped: $(log_since)"
(($(./sbset "$C" get sequence) > sequence)) || fail "the superblock did not change"
is state 0
check -n "$HALF"
./blockdata write /dev/mapper/nc -n 2048 -g 2 || fail "writes fail"
./blockdata read /dev/mapper/nc -n 2048 -g 2 || fail "old data"
