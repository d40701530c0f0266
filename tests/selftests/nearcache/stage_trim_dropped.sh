#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# on_full writethrough: while the stage passes writes, the origin ceases to support discards, as a SCSI
# volume may. The stage goes on taking them.
# kernels: 6.12
# cpus: 1
# allow-log: critical target error
. ./stage.sh
. ./reservation.sh

# limit DEV NAME: print a limit of the device's queue.
limit() {
	cat "$(sys_block "$1")/queue/$2"
}

NC=/dev/mapper/st
# Slow, so that the writers let the stage go on passing.
make_volume 64 discard=1 completion_nsec=20000000
echo 1 >"$TARGET/core/iblock_0/volume/attrib/emulate_tpu" || fail "no discards"
volume_node O 3
(($(limit "$O" discard_max_bytes))) || fail "the origin takes no discards"
make_null L log 32 cache_size=1
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
stage_start 'max_behind 1048576 on_full writethrough'
before=$(limit "$NC" discard_max_hw_bytes)
for at in 4096 6144 8192 10240; do
	dd if=/dev/zero of="$NC" bs=4K seek=$at oflag=direct 2>/dev/null &
	at_exit kill $!
done
stage_mode 2
echo 0 >"$TARGET/core/iblock_0/volume/attrib/emulate_tpu"
blkdiscard -o 0 -l 65536 "$NC" || fail "a discard that the origin refuses"
same "discards of the origin" "$(limit "$O" discard_max_bytes)" 0
stage_mode_is 2 || fail "the stage has returned: $(dmsetup status --noflush st)"
# On 6.12 this file shows a lowered limit at once, before the kernel applies it.
same "discards of the stage" "$(limit "$NC" discard_max_hw_bytes)" "$before"
blkdiscard -o 0 -l 65536 "$NC" || fail "a discard after the origin has dropped its own"
