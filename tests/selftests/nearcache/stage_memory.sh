#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random writes of 4 KiB fill the memory for entries long before the log: writers wait for the drain,
# nothing fails, and the memory is used again. A start with less memory than the log needs is refused.
# when: soak
. ./gate.sh
. ./stage.sh

# verify [fio options]: check what was written.
verify() {
	fio --name=x --filename="$NC" --rw=randwrite --bs=4k --size=48m --io_size=20m --direct=1 --thread --ioengine=libaio \
		--iodepth=16 --randseed=7 --verify=crc32c --verify_fatal=1 "$@" >"$TMPDIR/fio" 2>&1
}

# memory_full: do writes wait because nearly all entries are in use? Writes also wait for a commit.
memory_full() {
	stage_above waiting 1 && stage_above entries $((max - 600))
}

gated_stage 48 80 'map_memory 1048576'
max=$(stage entries_max)
((max >= 4096 && max <= 8192)) || fail "memory for $max entries"
origin_fails
verify --do_verify=0 &
writer=$!
writer_until $writer memory_full
(($(stage entries) <= max)) || fail "$(stage entries) of $max entries are in use"
(($(stage behind_bytes) < 32 << 20)) || fail "$(stage behind_bytes) bytes in the log"
stage_until state 1
gate pass origin
wait "$writer" || fail "fio: $(<"$TMPDIR/fio")"
same state "$(stage state)" 0
stage_drained
drop_caches
same "content of the origin" "$(sha256sum <"$O")" "$(sha256sum <"$NC")"
verify --verify_only || fail "verify: $(<"$TMPDIR/fio")"

# A log with more entries than a smaller table has memory for.
stage_stop
stage_start 'map_memory 4194304'
origin_fails
verify --do_verify=0 || fail "fio: $(<"$TMPDIR/fio")"
(($(stage entries) > max)) || fail "$(stage entries) entries"
stage_stop
log_mark
! dmsetup create --noudevsync st --table "$(stage_line 'map_memory 1048576')" 2>/dev/null || fail "a start without memory"
log_since | grep -q 'needs a larger map_memory than 1048576' || fail "$(log_since)"
dm_gone st
stage_start 'map_memory 4194304'
verify --verify_only || fail "verify: $(<"$TMPDIR/fio")"
gate pass origin
stage_drained
