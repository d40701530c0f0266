#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Another node with a stage of its own writes to the same origin while this one is in use: the drain does
# not overwrite sectors that it finds changed, and the next start is refused.
# kernels: 6.12
# cpus: 1
# expect-log: another host changed sector 0 meanwhile
# expect-log: another host changed it: sector 0
. ./stage.sh

fresh_stage 16 32
./blockdata write /dev/mapper/st -n 8 -g 2
stage_drained
# The other node, which does not know of this one's log.
head -c 4096 /dev/urandom >"$TMPDIR/other"
dd if="$TMPDIR/other" of="$O" bs=4K conv=notrunc oflag=direct 2>/dev/null || fail "the other node cannot write"
./blockdata write /dev/mapper/st -s 4096 -n 8 -g 3
stage_drained
same origin_error "$(stage origin_error)" 0
./blockdata write /dev/mapper/st -n 16 -g 3
epoch=$(stage_commit)
stage_until origin_error 116
dd if="$O" bs=4K count=1 iflag=direct 2>/dev/null | cmp - "$TMPDIR/other" ||
	fail "the drain overwrote the other node's data"
same state "$(stage state)" 1
same drained_epoch "$(stage drained_epoch)" $((epoch - 1))
./blockdata read /dev/mapper/st -n 16 -g 3 || fail "reads"
stage_stop
! dm_create st "$(stage_line)" 2>/dev/null || fail "a start on a changed origin"
dm_gone st
