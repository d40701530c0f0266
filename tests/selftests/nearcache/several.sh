# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for caches on several devices: . ./several.sh (includes cache.sh). The members are in
# $members; the first one is also $C.
. ./cache.sh

# several MB...: create members of these sizes, in memory.
several() {
	local mb device
	members=()
	sets=$((${sets:-0} + 1))
	for mb; do
		make_null device "set${sets}_${#members[@]}" "$mb"
		members+=("$device")
	done
	C=${members[0]}
	behind "${members[@]:1}"
}

# behind DEV...: set $OPTIONS for these members after the first one.
behind() {
	local device
	OPTIONS=$((2 * $#))
	for device; do
		OPTIONS+=" member $device"
	done
	(($#)) || OPTIONS=
}

# format_several [create options]: create a new cache on all of $members.
format_several() {
	local words=() device
	for device in "${members[@]}"; do
		words+=(--cache "$device")
	done
	nearcache create fmt "${words[@]}" --origin "$O" --block-size 64K --format-only --force \
		"$@" >/dev/null || fail "cannot format ${members[*]}"
}

# copied FROM TO: copy the content of a device.
copied() {
	dd if="$1" of="$2" bs=1M iflag=direct oflag=direct conv=fsync 2>/dev/null || fail "copy of $1"
}

# refused TEXT [DEV...]: the kernel must refuse a table with these cache devices, and log TEXT.
refused() {
	local why=$1
	shift
	behind "${@:2}"
	log_mark
	! dm_create nc "$(line "$OPTIONS" "$O" "$1")" >"$TMPDIR/refused" 2>&1 || fail "accepted: $*"
	log_since | grep -q "$why" || fail "the log does not say '$why': $(log_since)"
	! dmsetup info nc >/dev/null 2>&1 || dmsetup remove --noudevsync nc
	behind "${members[@]:1}"
}

# warm: fail unless all reads hit.
warm() {
	origin_mark
	check
	same "origin bytes of a warm cache" "$(origin_delta)" 0
}

# cold TEXT: start; fail unless the cache is empty, the log contains TEXT, and all data is right.
cold() {
	log_mark
	start
	is blocks_warm 0
	log_since | grep -q "$1" || fail "the log does not say '$1'"
	check
	settle
}
