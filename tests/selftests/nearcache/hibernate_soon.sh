#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# After a hibernation the origin appears late, and the cache device does not come back. A second
# hibernation begins before the cache could compare the two with its memory. The kernel writes dirty
# pages back before it freezes tasks: that write must not wait for the end of the hibernation.
# timeout: 120
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# allow-log: I/O error
# when: soak
. ./sleeping.sh

begin writearound
good=$(dmsetup table local) there=$(dmsetup table origin)
becomes origin "0 $(sectors "$O") error"
image
becomes local "0 $(sectors "$C") error"
# Dirty a whole page, which the kernel need not read first. While the device is open, the kernel
# does not write the page back at once.
exec 7<>/dev/mapper/nc
dd if=/dev/zero bs=4096 count=1 2>/dev/null >&7 || fail "no dirty page"
# The first hibernation was not compared yet: that bypasses the cache, whose cache device fails.
is state 0
image
exec 7>&-
is state 1
becomes origin "$there"
becomes local "$good"
MODE=writearound reload "2 cache_timeout 0" || fail "reload"
is state 0
is loaded 3
./blockdata write /dev/mapper/nc -n 2048 -g 2 || fail "write"
./blockdata read /dev/mapper/nc -n 2048 -g 2 || fail "old data"
stop
