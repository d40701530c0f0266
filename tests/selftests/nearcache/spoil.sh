# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache device that changes what is cached: . ./spoil.sh, after cache.sh and when $C is formatted.
# Block n of the origin is in slot n, for the first 32.
data=$(($(./sbset "$C" get data_offset) / 512))

# spoil SECTOR COUNT: other bytes where the cache device has these sectors of the origin.
spoil() {
	dd if=/dev/urandom of="$C" bs=512 seek=$((data + $1)) count="$2" conv=notrunc,fsync \
		status=none || fail "cannot spoil"
}

# in_order: cache the 32 blocks.
in_order() {
	local block
	for ((block = 0; block < 32; block++)); do
		check -s $((block * 128)) -n 128 >/dev/null
		settle
	done
}

# all_hits [OPTIONS]: they are served by the cache device.
all_hits() {
	origin_mark
	check -n 4096 "$@" >/dev/null
	same "bytes from the origin (line ${BASH_LINENO[0]})" "$(origin_delta)" 0
}
