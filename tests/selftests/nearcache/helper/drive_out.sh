#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While a drive is out, a command that the kernel refuses must say why in the kernel's words, and
# the smallest step that helps: 'nearcache attach' takes a cache device back, empty if it has no
# record of an invalidation.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./drive.sh

bypassed() {
	[[ $(field state) == 1 ]]
}

need_drive
make_null O origin 16
make_null C2 local 24
at_exit dm_gone nc
at_exit rm -f /var/lib/nearcache/pins/nc.json
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K --force
check -n 8192
settle
written_down
pull
check -n 8192
wait_for 60 bypassed || fail "not bypassed"
bad 4 "invalidation not recorded" invalidate nc
[[ $out == *"the cache device of 'nc' is bypassed"*"run 'nearcache attach nc', with this cache device"* ]] || fail "no next step: $out"
bad 4 "the disk of the cache device is gone" set nc mode=writearound
[[ $out == *"goes on as before"*"run 'nearcache attach nc', with this cache device"* ]] || fail "no next step: $out"
[[ $out != *" 0 bytes"* ]] || fail "not the reason: $out"
check -n 8192
# Nothing can be loaded into a cache that is bypassed; the kernel cancels such a job.
bad 4 "the cache device of 'nc' is bypassed" prefetch nc 0-1M
[[ $out == *"run 'nearcache attach nc', with this cache device"* ]] || fail "no next step: $out"
run pin nc 0-64K
[[ $rc == 0 && $err == *"pinned, but not loaded: the cache device of 'nc' is bypassed"*"'nearcache attach nc'"* ]] ||
	fail "pin: exit $rc, $err $out"
run pin nc 64K-128K --wait
[[ $rc == 4 && $err == *"was cancelled"*"the data stays pinned"*"run 'nearcache attach nc'"* ]] ||
	fail "pin --wait: exit $rc, $err $out"
good unpin nc --all

# As the message of 'invalidate' says, the drive is taken back and does not serve the old data.
./blockdata write "$O" -g 2
plug
good attach nc --cache "$C" -j
expect state normal
is blocks_used 0
./blockdata read /dev/mapper/nc -g 2 -n 8192 || fail "old data"
good set nc mode=writearound
good close nc

# The drive as the origin: it is gone, and a command that needs it says so.
O=$C
good create nc --origin "$O" --cache "$C2" --block-size 64K --force
pull
bad 4 "the origin (device " resize nc
[[ $out == *"is gone"*"run 'nearcache attach nc'"* ]] || fail "resize: $out"
bad 4 "the disk of origin" set nc fill_memory=8M
[[ $out == *"goes on as before"*"run 'nearcache attach nc'"* ]] || fail "set: $out"
bad 4 "run 'nearcache attach nc'" set nc mode=writearound
good status nc
[[ $out == *"origin gone"*"'nearcache attach nc'"* ]] || fail "status: $out"
good close nc
