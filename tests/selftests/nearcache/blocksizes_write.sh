#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes of all sizes, with 512-byte logical blocks on the origin but 4096-byte ones on the cache
# device. This is dm-crypt, which also refuses bios with a segment that is no whole block.
# kernels: 6.1
# cpus: 1
. ./cache.sh

KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
make_null O origin 8 completion_nsec=100000 discard=1
base="" twin=""
make_null base local 4
make_dm C large "0 $(sectors "$base") crypt aes-xts-plain64 $KEY 0 $base 0 1 sector_size:4096"
same "logical block size" "$(blockdev --getss "$C")" 4096
./stress init "$O" "$TMPDIR/model" || fail "init"
format
for MODE in writethrough writearound; do
	# dm-crypt is slow on a busy machine: cache_timeout 0, or the cache would bypass it.
	start nc '2 cache_timeout 0'
	make_dm twin twin "0 $(sectors "$O") linear /dev/mapper/nc 0"
	./stress run /dev/mapper/nc "$TMPDIR/model" -s "$(times 6)" -d -z "$twin" || fail "wrong sectors"
	settle
	above hits 0
	above bypass_unaligned 0
	[[ $MODE != writethrough ]] || above updates 0
	is hit_errors 0
	is fills_failed_cache 0
	is write_errors 0
	is state 0
	dm_remove twin
	stop
	./stress verify "$O" "$TMPDIR/model" ||
		fail "the origin differs from the data that was read"
done
MODE=read-only start
is loaded 2
./stress verify /dev/mapper/nc "$TMPDIR/model" || fail "wrong after the restart"
above hits 0
