#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 'nearcache set' waits for the I/O in flight, and says so. It leaves dirty data of the file system
# dirty, except before the device becomes read-only: then all of it must reach the origin.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

modprobe ext4 || skip "no ext4"

# setting NAME VALUE: change a setting of the writeback until the end of the test.
setting() {
	at_exit eval "echo $(<"/proc/sys/vm/$1") >/proc/sys/vm/$1"
	echo "$2" >"/proc/sys/vm/$1"
}

# dirty: write 8 MiB to the page cache.
dirty() {
	dd if=/dev/urandom of="$TMPDIR/mnt/file" bs=1M count=8 conv=notrunc 2>/dev/null || fail "dd"
}

# waits TEXT SETTING...: run 'set' on a terminal while the origin is suspended; it must print TEXT.
waits() {
	printf '%s\n' "see $1" 'see fill memory cap' 'end 0' |
		./onpty 200 24 "$TMPDIR/screen" nearcache set nc "${@:2}" &
	wait_for 60 grep -qsF "$1" "$TMPDIR/screen" || fail "no '$1': $(<"$TMPDIR/screen")"
	dmsetup resume --noudevsync slice
	wait "$!" || fail "set ${*:2}: $(<"$TMPDIR/screen")"
}

held() {
	dmsetup suspend --noudevsync --noflush --nolockfs slice || fail "suspend"
}

make_null base base 64
make_null C local 16
make_dm O slice "0 $(sectors "$base") linear $base 0"
at_exit dm_gone nc
good create nc --origin "$O" --cache "$C" --block-size 64K --mode writearound
mkfs.ext4 -qF -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/nc || fail "mkfs.ext4"
mkdir "$TMPDIR/mnt"
# The file system must not read on its own: the test counts the reads in flight.
mount -o commit=3600,no_prefetch_block_bitmaps /dev/mapper/nc "$TMPDIR/mnt" || fail "mount"
at_exit umount "$TMPDIR/mnt"
at_exit dmsetup resume --noudevsync slice
setting dirty_writeback_centisecs 0
setting dirty_background_ratio 90
setting dirty_ratio 95

dirty
before=$(origin_writes "$base")
good set nc fill_memory=8M
(($(origin_writes "$base") - before < 1 << 20)) || fail "a change of fill_memory wrote dirty data"

held
dd if=/dev/mapper/nc of=/dev/null bs=64k count=1 skip=900 iflag=direct 2>/dev/null &
reader=$!
reads() {
	read -r -a inflight <"$(sys_block /dev/mapper/nc)/inflight"
	((inflight[0] > 0))
}
wait_for 30 reads || fail "no read is in flight"
waits '1 read and 0 writes are in flight' fill_memory=16M
wait "$reader" || fail "the read failed"

held
waits 'the file system writes its dirty data' mode=read-only --force
(($(origin_writes "$base") - before >= 8 << 20)) || fail "dirty data is lost"
good set nc mode=writearound
