# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Caches on several devices: . ./several.sh (includes cache.sh). They are in the list $members,
# the first one is $C, too.
. ./cache.sh

# several MB...: cache devices of these sizes, memory-backed.
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

# behind DEV...: what the table line says of the devices behind the first one.
behind() {
	local device
	OPTIONS=$((2 * $#))
	for device; do
		OPTIONS+=" member $device"
	done
	(($#)) || OPTIONS=
}

# format_several [create options]: a new cache on all of $members.
format_several() {
	local words=() device
	for device in "${members[@]}"; do
		words+=(--cache "$device")
	done
	nearcache create fmt "${words[@]}" --origin "$O" --block-size 64K --format-only --force \
		"$@" >/dev/null || fail "cannot format ${members[*]}"
}

# copied FROM TO
copied() {
	dd if="$1" of="$2" bs=1M iflag=direct oflag=direct conv=fsync 2>/dev/null || fail "copy of $1"
}

# refused WHY [DEV...]: the kernel takes no table with these cache devices, and says why.
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

# warm: all of the origin is there, and comes from the cache devices.
warm() {
	origin_mark
	check
	same "origin bytes of a warm cache" "$(origin_delta)" 0
}

# cold WHY: nothing is taken over, and all data is right.
cold() {
	log_mark
	start
	is blocks_warm 0
	log_since | grep -q "$1" || fail "the log does not say '$1'"
	check
	settle
}
