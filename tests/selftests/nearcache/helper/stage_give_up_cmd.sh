#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log of a mounted stage hangs, and nearcache close --abandon-stage gives it up: the file system can be
# unmounted, the devices go away, and the origin is a valid image. destroy does the same at a failed log,
# and at one that does not answer: a log that was given up is refused when it is back.
# kernels: 6.12
# cpus: 1
. ./stage.sh
. ./staged.sh

# log_fails: fail all requests to the log, also those that hang.
log_fails() {
	dmsetup load log --table "0 $size error" && dmsetup resume log || fail "log"
}

hangs() {
	local fields
	read -ra fields < <(dmsetup status --noflush nc-stage)
	((fields[ST_AT[in_flight]] > 0))
}

gone() {
	log_fails
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
}

make_log_on_drive
make_staged stage-give-up 24
mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
at_exit gone
mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 "$O" 2>/dev/null
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force
mount /dev/mapper/nc "$TMPDIR/mnt"
echo before >"$TMPDIR/mnt/file"
good stage drain nc --wait
dmsetup suspend --nolockfs log
dd if=/dev/zero of="$TMPDIR/mnt/hangs" bs=64K count=1 oflag=direct 2>/dev/null &
writer=$!
wait_for 30 hangs || fail "nothing hangs"
bad 5 "stop the users of 'nc'" close nc --abandon-stage
log_fails
! wait "$writer" || fail "a write to the log that was given up succeeds"
umount "$TMPDIR/mnt" 2>/dev/null || umount "$TMPDIR/mnt" || fail "umount"
log_works
bad 1 "leave out --keep" close nc --keep --abandon-stage
good close nc --abandon-stage -j
json_keys abandoned drained_epoch drained_time_ns closed
expect abandoned true closed true
! dmsetup info nc >/dev/null 2>&1 || fail "nc is there"
! dmsetup info nc-stage >/dev/null 2>&1 || fail "nc-stage is there"
mount "$O" "$TMPDIR/mnt" || fail "the origin is no valid image"
same file "$(<"$TMPDIR/mnt/file")" before
umount "$TMPDIR/mnt"
run open nc --cache "$C" --stage "$L" --abandon-stage --mode writearound
[[ $rc == 0 ]] || fail "open: $err"
bad 1 "has no stage" close nc --abandon-stage
good destroy nc

good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force
becomes log "0 $size error"
! ./blockdata write /dev/mapper/nc -n 8 2>/dev/null || fail "a failed log takes a write"
run close nc
((rc)) || fail "close with a failed log: $out"
log_works
good destroy nc --abandon-stage

good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force
./blockdata write /dev/mapper/nc -n 8
# No request is in flight then.
good stage drain nc --wait
becomes log "0 $size delay $drive 2048 60000 $drive 2048 0"
started=$SECONDS
run destroy nc --abandon-stage --dry-run
[[ $rc == 0 && $err == *"does not answer within"* ]] || fail "destroy --dry-run: $rc $err"
run destroy nc --abandon-stage
[[ $rc == 0 && $err == *"is not wiped"* ]] || fail "destroy: $rc $err"
((SECONDS - started < 50)) || fail "destroy waits for the log"
log_works
bad 5 "was given up on 20" open nc --stage "$L" --origin "$O"
bad 5 "was given up on 20" create nc --origin "$O" --cache "$C" --force
good destroy --stage "$L" --abandon-stage
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force
good destroy nc

# A table that a killed command left does not start: it would read the log.
good create nc --origin "$O" --cache "$C" --block-size 64K --stage "$L" --force
dmsetup suspend nc-stage
dmsetup table nc-stage | dmsetup load nc-stage
becomes log "0 $size error"
good close nc --abandon-stage -j
expect abandoned true closed true
