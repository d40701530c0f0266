#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While the system slept, another system used the cache device, and now it cannot be written. In a
# writing mode no write may pass, since a later load would trust the other system's data.
# timeout: 400
# kernels: 6.12
# debug-drive-bus: virtio
# cpus: 1
# allow-log: I/O error
# when: soak
. ./sleeping.sh

begin writearound
good=$(dmsetup table local)
./sbset "$C" set both write_id 7
./sbset "$C" set both state 0
dmsetup load local --table "0 $(sectors "$C") flakey ${good#*linear } 0 3600 1 error_writes" &&
	dmsetup resume local || skip "no dm-flakey"

foreign

# A hibernation writes dirty pages back before it freezes tasks: this write fails and may not wait.
exec 7<>/dev/mapper/nc
echo dirty >&7 || fail "no dirty page"
image
exec 7>&-
refused || fail "a write passed after the second image"

# A resume tries again.
dmsetup load local --table "$good" && dmsetup resume local || fail "linear"
dmsetup suspend nc && dmsetup resume nc || fail "suspend and resume"
./blockdata write /dev/mapper/nc -g 2 || fail "writes still fail"
same "state of the superblock" "$(./sbset "$C" get state)" 1
stop
start nc "2 cache_timeout 0"
is loaded 3
./blockdata read /dev/mapper/nc -g 2 || fail "old data"
stop
