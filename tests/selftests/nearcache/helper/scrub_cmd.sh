#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Effects, output and errors of create --integrity, nearcache scrub, and set verify=.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

make_null O origin 8
make_null C local 16
./blockdata write "$O"
bad 1 "--integrity 'md5': give none or crc32c" create nc --origin "$O" --cache "$C" --integrity md5
bad 1 "--verify '-1': give 0" create nc --origin "$O" --cache "$C" --verify=-1
good create nc --origin "$O" --cache "$C" --block-size 64K --integrity crc32c --verify 1000 --dry-run -j
expect integrity crc32c
good create nc --origin "$O" --cache "$C" --block-size 64K --integrity crc32c --verify 1000
at_exit run close nc
good super "$C" -j
expect integrity crc32c
good status nc -j
expect integrity crc32c verify 1000 scrub_left 0 damaged 0
good set nc verify=0 -j
expect verify 0 verify_before 1000 changed true
bad 1 "verify 'x': give 0" set nc verify=x

bad 1 "--stop excludes" scrub nc --stop --wait
bad 1 "--rate '0': it must not be 0" scrub nc --rate 0
bad 4 "no scrub of 'nc' is running" scrub nc --stop
bad 4 "no device 'nobody'" scrub nobody
check -n 8192 -b 128 >/dev/null
settle
good scrub nc --dry-run -j
expect rate 67108864 dry_run true
is scrubs 0
good scrub nc --wait -j
expect rate 67108864 with_origin false scrubbed_bytes 4194304 damaged 0
# A scrub at a rate so low that it still runs when the test stops it.
good scrub nc --rate 64K --with-origin -j
expect rate 65536 with_origin true
bad 5 "a scrub of 'nc' is running" scrub nc
good status nc
good scrub nc --stop -j
expect stopped true
good status nc -j
expect scrub_left 0

# The exit code must report damage, and the damaged sub-blocks must be repaired.
data=$(($(./sbset "$C" get data_offset) / 512))
dd if=/dev/urandom of="$C" bs=512 seek=$((data + 256)) count=8 conv=notrunc,fsync 2>/dev/null
run scrub nc --wait --rate 1G
[[ $rc == 4 && $err == *"1 sub-blocks of 'nc' were damaged"* ]] || fail "exit $rc: $err"
good scrub nc --wait --with-origin --rate 1G -j
expect damaged 0 scrubbed_bytes 4194304
good status nc -j
# A scrub has ended after the damage: nothing is left to do.
expect damaged 1 next null
