# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions that damage cached data: . ./spoil.sh, after cache.sh and once $C is formatted. They
# cache block n of the origin in slot n, for the first 32 blocks.
data=$(($(./sbset "$C" get data_offset) / 512))

# spoil SECTOR COUNT: overwrite the cached copy of these sectors of the origin.
spoil() {
	dd if=/dev/urandom of="$C" bs=512 seek=$((data + $1)) count="$2" conv=notrunc,fsync \
		status=none || fail "cannot spoil"
}

# in_order: cache the 32 blocks one after the other.
in_order() {
	local block
	for ((block = 0; block < 32; block++)); do
		check -s $((block * 128)) -n 128 >/dev/null
		settle
	done
}

# all_hits [OPTIONS]: read the 32 blocks; fail unless all reads hit.
all_hits() {
	origin_mark
	check -n 4096 "$@" >/dev/null
	same "bytes from the origin (line ${BASH_LINENO[0]})" "$(origin_delta)" 0
}
