# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A raid1, /dev/md127, without mdadm: . ./raid.sh (needs cache.sh).

# md ATTRIBUTE VALUE: set an attribute of the raid.
md() {
	echo "$2" >"/sys/block/md127/md/$1" || fail "md: $1=$2"
}

# raid_up DEV DEV KIB: create the raid of two devices with equal content; false: no raid here.
raid_up() {
	[[ -e /sys/module/raid1 ]] || modprobe raid1 || return
	# An earlier one ends in the background.
	wait_for 10 test ! -e /sys/block/md127 || fail "md127 exists"
	echo md127 >/sys/module/md_mod/parameters/new_array || fail "new_array"
	md metadata_version none
	md level raid1
	md raid_disks 2
	md component_size "$3"
	md new_dev "$(number "$1")"
	md new_dev "$(number "$2")"
	local dir slot=0
	for dir in /sys/block/md127/md/dev-*; do
		echo $slot >"$dir/slot" || fail "md: slot $slot"
		slot=$((slot + 1))
	done
	# Both legs have equal content, so no resync is needed.
	md resync_start none
	md array_state active
	wait_for 10 test -b /dev/md127 || fail "no md device"
}

raid_down() {
	[[ ! -e /sys/block/md127/md/array_state || $(</sys/block/md127/md/array_state) == clear ]] ||
		wait_for 10 raid_clear
}

raid_clear() {
	echo clear 2>/dev/null >/sys/block/md127/md/array_state
}

# raid_fail DEV: a leg fails.
raid_fail() {
	echo faulty >"/sys/block/md127/md/dev-${1#/dev/}/state" || fail "cannot fail $1"
}
