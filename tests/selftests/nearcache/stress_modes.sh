#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Threads write and read while modes are switched, tables reloaded, the device suspended and the
# cache invalidated. No read may return wrong data. Parts of the origin and of the cache device are
# slow for writes, others for reads. Cached data has checksums, is scrubbed and compared with the
# origin meanwhile, and must never be reported as damaged.
# kernels: 6.1
# timeout: 240
# when: soak
. ./cache.sh
. ./stressing.sh

# shellcheck disable=SC2034 # for format
INTEGRITY=crc32c
size=$((64 * 2048))

# scrubbing: start a scrub with the origin.
scrubbing() {
	dmsetup message nc 0 scrub start 0 origin 2>/dev/null
}

make_null base origin 64 discard=1 completion_nsec=1000000
third=$((size / 3 / 128 * 128))
make_dm O slow-origin "0 $third linear $base 0
$third $third delay $base $third 0 $base $third 4
$((third * 2)) $((size - third * 2)) delay $base $((third * 2)) 4 $base $((third * 2)) 0"
make_null local local 5
make_dm C slow-local "0 $(sectors "$local") delay $local 0 4 $local 0 8"
./stress init "$base" "$TMPDIR/model"
format
MODE=writearound start
make_dm twin twin "0 $size linear /dev/mapper/nc 0"
stress_begin "$twin"
for ((i = 0; i < $(times 2); i++)); do
	MODE=writethrough reload '2 verify 10' || fail "reload to writethrough"
	dmsetup message nc 0 scrub stop || true
	wait_for 30 scrubbing || fail "no scrub starts"
	go_on 50 writethrough
	dmsetup message nc 0 invalidate all || fail "invalidate all"
	go_on 50 invalidate all
	dmsetup suspend nc || fail "suspend"
	dmsetup resume nc || fail "resume"
	go_on 50 suspend
	MODE=writethrough reload '2 fill_memory 1048576' || fail "reload with little memory"
	go_on 50 little memory
	MODE=writearound reload || fail "reload to writearound"
	go_on 50 writearound
	for _ in {1..5}; do
		dmsetup message nc 0 invalidate $((RANDOM * 2)) $((1 + RANDOM)) || fail "invalidate"
	done
	go_on 50 invalidate
	dmsetup suspend --noflush nc || fail "suspend --noflush"
	dmsetup resume nc || fail "resume"
	go_on 50 suspend --noflush
done
stress_end || fail "wrong: $(cat "$TMPDIR/log")"
cat "$TMPDIR/log"
settle
dmsetup status nc
for name in hits fills updates invalidated_bytes fills_stale bypass_write; do
	above "$name" 0
done
for name in verified scrubbed_bytes; do
	above "$name" 0
done
is damaged 0
is state 0
dm_remove twin
stop
./stress verify "$O" "$TMPDIR/model" || fail "the origin differs from the data that was read"
MODE=writethrough start
./stress verify /dev/mapper/nc "$TMPDIR/model" || fail "wrong after the restart"
