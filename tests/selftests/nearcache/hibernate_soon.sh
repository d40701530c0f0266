#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# After a hibernation the origin comes late, and the cache device does not come back. A second hibernation
# begins before the first one could be compared with them. It writes dirty pages back before it freezes
# tasks: that write may not wait for its end.
# timeout: 120
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# allow-log: I/O error
. ./sleeping.sh

begin writearound
good=$(dmsetup table local) there=$(dmsetup table origin)
becomes origin "0 $(sectors "$O") error"
image
becomes local "0 $(sectors "$C") error"
# A whole page, so that the kernel need not read it. The open device keeps it from being written at once.
exec 7<>/dev/mapper/nc
dd if=/dev/zero bs=4096 count=1 2>/dev/null >&7 || fail "no dirty page"
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
