#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The connection with a reserved origin is lost, and the new one has no key yet: attach registers the
# key for it, so the drain goes on there, and other nodes still cannot write.
# kernels: 6.12
# cpus: 1
# timeout: 300
# allow-log: reservation conflict
. ./cache.sh
. ./command.sh
. ./reservation.sh

# writes DEV: write 4 KiB at 32 MiB, bypassing the stage.
writes() {
	dd if=/dev/zero of="$1" bs=4K seek=8192 count=1 oflag=direct 2>/dev/null
}

fails() {
	run stage status nc -j
	(($(json origin_failing_seconds)))
}

make_volume 64
make_null C local 24
make_null L log 32
at_exit gone
good create nc --cache "$C" --block-size 64K --force --reserve --stage "$L" --origin "$O" --rate 64K
./blockdata write /dev/mapper/nc -n 2048 -g 2
good stage drain nc
echo 1 >"$(sys_block "$O")/device/delete"
wait_for 20 fails || fail "status: $out"
volume_node O3 3
! writes "$O3" || fail "the new connection has a key"
good attach nc --origin "$O3" --dry-run
! writes "$O3" || fail "a dry run registers the key"
good attach nc --origin "$O3"
writes "$O3" || fail "attach does not register the key"
! writes "$O2" || fail "the other node writes"
good stage rate nc 0
good stage drain nc --wait
./blockdata read "$O3" -n 2048 -g 2 >/dev/null || fail "the origin lacks writes"
./blockdata read /dev/mapper/nc -n 2048 -g 2 >/dev/null || fail "wrong data"
# The lost connection holds the reservation, and another node has registered a key.
./reserve "$O2" register 0x77 || fail "the other node cannot register"
good close nc
./reserve "$O2" forget 0x77
writes "$O2" || fail "close keeps the reservation"
