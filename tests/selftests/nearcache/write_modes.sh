#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In each mode, a write must have the right effect on the data, the cached data and the counters.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# put GENERATION FIRST COUNT: write sectors through the device.
put() {
	./blockdata write /dev/mapper/nc -g "$1" -s "$2" -n "$3" || fail "cannot write $2+$3"
}

# part GENERATION FIRST COUNT [DEV]: fail unless these sectors have this generation.
part() {
	./blockdata read "${4:-/dev/mapper/nc}" -s "$2" -n "$3" -g "$1" -b "${5:-8}" >/dev/null ||
		fail "sectors $2+$3 are not generation $1 (line ${BASH_LINENO[0]})"
}

fresh 8 12

# Read-only mode must refuse writes.
[[ $(blockdev --getro /dev/mapper/nc) == 1 ]] || fail "read-only mode on a writable device"
! ./blockdata write /dev/mapper/nc -g 2 -n 8 2>/dev/null ||
	fail "written in read-only mode"
check

# Writearound mode must invalidate just the sub-blocks that are written.
settle
full=$(field bytes_valid)
MODE=writearound reload || fail "reload to writearound"
is mode 1
is bytes_valid "$full"
[[ $(blockdev --getro /dev/mapper/nc) == 0 ]] || fail "still read-only"
dmsetup table nc | grep -q ' nearcache writearound ' || fail "mode in the table: $(dmsetup table nc)"
put 2 1 1
is bytes_valid $((full - 4096))
is invalidated_bytes 4096
is writes 1
is write_bytes 512
part 2 1 1 /dev/mapper/nc 1
part 1 2 6 /dev/mapper/nc 1
part 2 1 1 "$O" 1
settle
is bytes_valid "$full"
put 2 120 400 # three blocks and a bit
part 2 120 400
part 2 120 400 "$O"
part 1 520 1000
settle
is bytes_valid "$full"

# Writethrough mode must keep cached blocks valid, even if a sub-block is written in part.
MODE=writethrough reload || fail "reload to writethrough"
is mode 2
hits=$(field hit_bytes)
skipped=$(field updates_skipped)
put 3 1001 403
settle
is bytes_valid "$full"
is updates_skipped "$skipped"
above updates 0
part 3 1001 403 /dev/mapper/nc 1
is hit_bytes $((hits + 403 * 512))
part 3 1001 403 "$O" 1
part 1 0 1
part 1 1404 100 /dev/mapper/nc 1
check -s 2000 -n 8000

# Write to the short last sub-block of the origin, then over the whole device.
put 3 $((16384 - 3)) 3
settle
part 3 $((16384 - 3)) 3 /dev/mapper/nc 1
put 2 0 16384
settle
is bytes_valid "$full"
origin_mark
part 2 0 16384
same "origin bytes" "$(origin_delta)" 0
part 2 0 16384 "$O"

# Read-only again, warm after a clean stop.
stop
start
is mode 0
is bytes_valid "$full"
part 2 0 16384
stop

# On an empty cache, writes take free slots; the written blocks must be the first to be evicted.
format
MODE=writethrough start
put 3 0 4096
settle
is bytes_valid $((4096 * 512))
hits=$(field hit_bytes)
part 3 0 4096
is hit_bytes $((hits + 4096 * 512))

# Valid messages must invalidate data, and invalid messages must be refused.
dmsetup message nc 0 invalidate 8 8
is bytes_valid $((4096 * 512 - 4096))
dmsetup message nc 0 invalidate all
is bytes_valid 0
for bad in "invalidate" "invalidate 0" "invalidate 0 0" "invalidate 16384 1" "invalidate 16383 2" \
	"invalidate x 1" "invalidate 0 -1" "nonsense" "invalidate 0 18446744073709551615"; do
	# shellcheck disable=SC2086 # words
	! dmsetup message nc 0 $bad 2>/dev/null || fail "message accepted: $bad"
done
part 3 0 4096
part 2 4096 4096
dmsetup suspend nc
! dmsetup message nc 0 invalidate all 2>/dev/null || fail "invalidated while suspended"
dmsetup resume nc
