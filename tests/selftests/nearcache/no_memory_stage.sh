#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Without memory to copy a small write to a stage, its epoch gets an ordinary commit. While a tenth of the
# module's allocations fail, no request gets an error, and a start and the drain find all data.
# kernels: debug
# timeout: 600
# allow-log: kmemleak: Cannot allocate a scan area, scanning the full object
. ./faults.sh
. ./stage.sh
TRACE=/sys/kernel/tracing

# put SECTOR BYTES: write to the stage, and commit.
put() {
	dd if=/dev/urandom of=/dev/mapper/st bs="$2" count=1 seek="$1" oflag=direct,seek_bytes conv=fsync 2>/dev/null ||
		fail "write of $2 bytes at $1"
}

# commits KIND: print the number of commits of this kind since the last call of watched.
commits() {
	grep -cE "stage_commit: .* result=$1 " $TRACE/trace
}

watched() {
	echo >$TRACE/trace
}

# intact TEXT: the data are right after a start, and on the origin.
intact() {
	local want
	drop_caches
	want=$(sha256sum </dev/mapper/st)
	stage_restart
	same "content after a start, $1" "$(sha256sum </dev/mapper/st)" "$want"
	stage_drained
	drop_caches
	same "content of the origin, $1" "$(sha256sum <"$O")" "$want"
	same "state, $1" "$(stage state)" 0
}

make_null O origin 16
make_null L log 24
# Write the null_blk devices, so that they allocate their memory before faults are injected.
dd if=/dev/zero of="$O" bs=1M count=16 oflag=direct status=none
dd if=/dev/zero of="$L" bs=1M count=24 oflag=direct status=none
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
stage_start
faults_of_module
echo >$TRACE/trace
trace_events 1 nearcache/nearcache_stage_commit
at_exit trace_events 0 nearcache/nearcache_stage_commit

put 1M 4096
same "embedded commits with memory" "$(commits 2)" 1
watched
faults 100 failslab fail_page_alloc
for i in 1 2 3 4; do
	put ${i}M 4096
	put ${i}M 512
done
faults_end failslab
same "ordinary commits without memory" "$(commits 0)" 8
same "other commits without memory" "$(commits '[12]')" 0
intact "no memory"

faults 10 failslab fail_page_alloc
fio --name=x --filename=/dev/mapper/st --rw=randwrite --bsrange=512-64k --size=12m --io_size=24m --direct=1 --thread \
	--ioengine=libaio --iodepth=8 --fsync=3 --randrepeat=0 --verify=crc32c --verify_fatal=1 >"$TMPDIR/fio" 2>&1 ||
	fail "fio: $(<"$TMPDIR/fio")"
faults_end failslab
(($(commits 0) > 8 && $(commits '[12]') > 0)) || fail "$(commits 0) ordinary commits, $(commits '[12]') others"
intact "a tenth"
echo "{\"faults_injected\": $faults_sum}"
