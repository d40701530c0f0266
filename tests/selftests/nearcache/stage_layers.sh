#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The log is encrypted, or a raid1 of which a drive fails under load: no error, and nothing is lost.
# when: soak
. ./stage.sh
. ./raid.sh

KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f

# load: write and verify in the background; $! is the writer.
load() {
	fio --name=x --filename=/dev/mapper/st --rw=randwrite --bsrange=512-64k --size=12m --io_size=24m --direct=1 --thread \
		--ioengine=libaio --iodepth=8 --fsync=20 --randrepeat=0 --verify=crc32c --verify_fatal=1 >"$TMPDIR/fio" 2>&1 &
}

# loaded_well: wait for the writer, restart, drain, and compare.
loaded_well() {
	local want
	wait $! || fail "$1: $(<"$TMPDIR/fio")"
	drop_caches
	want=$(sha256sum </dev/mapper/st)
	stage_restart
	same "content after a start, $1" "$(sha256sum </dev/mapper/st)" "$want"
	stage_drained
	same "state, $1" "$(stage state)" 0
	drop_caches
	same "content of the origin, $1" "$(sha256sum <"$O")" "$want"
	stage_stop
}

drive='' second=''
modprobe dm-crypt || skip "no dm-crypt"
make_null O origin 16
make_null drive log 24
make_null second log2 24
make_dm L crypt-log "0 $(sectors "$drive") crypt aes-xts-plain64 $KEY 0 $drive 0"
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
stage_start
load
loaded_well dm-crypt
dm_remove crypt-log
blkdiscard -z "$drive"

raid_up "$drive" "$second" 24576 || skip "no raid1 here"
at_exit raid_down
at_exit stage_stop
L=/dev/md127
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
stage_start
load
stage_until commits 3
raid_fail "$drive"
loaded_well raid1
raid_down
# The drive that is left has it all.
L=$second
stage_start
same "content of the drive that is left" "$(sha256sum </dev/mapper/st)" "$(sha256sum <"$O")"
