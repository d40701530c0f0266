#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While the system slept, another system opened the cache with an origin that had grown, and stopped it
# cleanly. This system cannot take over the superblock. In a writing mode no write may pass, since the
# next load would trust what the other system cached before it.
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
MODE=writearound start nc "2 cache_timeout 0"
again
same "state of the superblock" "$(./sbset "$C" get state)" 1
sequence=$(./sbset "$C" get sequence)
./sbset "$C" set both origin_size $((64 * MB))
./sbset "$C" set both sequence $((sequence + 2))
./sbset "$C" set both write_id 7
./sbset "$C" set both state 0

foreign
same "state of the superblock" "$(./sbset "$C" get state)" 0
stop
