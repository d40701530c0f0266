#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host that writes to, zeroes or discards the exported cache changes nothing, neither the cache nor
# the origin, with the block layer and with raw NVMe commands. nvmet has the device open for writing.
. ./fabric.sh

# refused WHAT COMMAND...: the command must fail.
refused() {
	! "${@:2}" >"$TMPDIR/words" 2>&1 || fail "$1 succeeded: $(<"$TMPDIR/words")"
}

# unchanged COMMAND...: the command may succeed, because a discard is only advice.
unchanged() {
	"$@" >"$TMPDIR/words" 2>&1 || true
}

fresh_export
writes=$(origin_write_ios "$O")
served "$ME"
connected
head -c 4096 /dev/urandom >"$TMPDIR/data"
# Block 64 is 32 KiB from the start: discards of block 0 take another path in nvmet.
for at in 0 64; do
	refused "write" dd if="$TMPDIR/data" of="$dev" bs=4096 count=1 seek=$((at / 8)) oflag=direct
	refused "buffered write" dd if="$TMPDIR/data" of="$dev" bs=4096 count=1 seek=$((at / 8)) conv=fsync
	refused "zeroes" blkdiscard -z -o $((at * 512)) -l 4096 "$dev"
	refused "nvme write" nvme write "$dev" -s $at -c 7 -z 4096 -d "$TMPDIR/data"
	refused "nvme write-zeroes" nvme write-zeroes "$dev" -n 1 -s $at -c 7
	refused "nvme write-uncor" nvme write-uncor "$dev" -n 1 -s $at -c 7
	unchanged blkdiscard -o $((at * 512)) -l 4096 "$dev"
	unchanged nvme dsm "$dev" -n 1 -d -s $at -b 8
done
refused "format" nvme format "$dev" -n 1 --force
nvme flush "$dev" -n 1 >/dev/null || fail "flush"
blockdev --flushbufs "$dev"
./blockdata read "$dev" || fail "the peer reads wrong data"
same "writes to the origin" "$(origin_write_ios "$O")" "$writes"
good disconnect "$NQN"
good remove "$NQN"
settle
check
stop
./blockdata read "$O" || fail "the origin was changed"
# The cache is as it was: still warm, and right.
start
is bytes_valid $((4 << 20))
origin_mark
check -n 8192
same "bytes read from the origin" "$(origin_delta)" 0
