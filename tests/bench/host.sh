# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Benchmarks on real devices: the checks and the confirmation before anything is written. Included
# by run, with $ORIGIN and $CACHE.
# shellcheck disable=SC2154 # the including script sets the devices

# Space that the largest benchmark needs on a device, MiB.
HOST_MB=1200

host_die() {
	echo "bench: $*" >&2
	exit 2
}

# host_number DEVICE: print its major:minor.
host_number() {
	local number
	number=$(stat -L -c '%t:%T' "$1")
	echo "$((16#${number%:*})):$((16#${number#*:}))"
}

# host_used DEVICE: print the users of the device and of its partitions.
host_used() {
	local dir part number holder
	number=$(host_number "$1")
	dir=$(readlink -f "/sys/dev/block/$number")
	for part in "$dir" "$dir"/*/; do
		[[ -r $part/dev ]] || continue
		number=$(<"$part/dev")
		awk -v number="$number" '$3 == number { print "mounted on " $5 }' /proc/self/mountinfo
		awk -v name="/dev/${part##*/}" '$1 == name { print "swapped to" }' /proc/swaps
		for holder in "$part"/holders/*; do
			[[ ! -e $holder ]] || echo "held by ${holder##*/}"
		done
	done
	# If another process has opened the device exclusively, device-mapper cannot open it.
	dmsetup create --noudevsync bench-probe --table "0 8 linear $1 0" 2>/dev/null || { echo "opened exclusively"; return; }
	dmsetup remove --noudevsync --retry bench-probe
}

# host_check VARIABLE: exit unless it names a device that may be overwritten.
host_check() {
	local device=${!1:-} used mb
	[[ $device ]] || host_die "on real devices: HOST=1 ORIGIN=/dev/... CACHE=/dev/...: no $1"
	[[ -b $device ]] || host_die "$1: '$device' is no block device"
	used=$(host_used "$device")
	[[ ! $used ]] || host_die "$1: '$device' is in use: $used"
	mb=$(($(blockdev --getsize64 "$device") >> 20))
	((mb >= HOST_MB)) || host_die "$1: '$device' has $mb MiB, less than $HOST_MB"
}

# host_confirm NAME...: print the consequences, and require a typed confirmation.
host_confirm() {
	local answer words device
	words="overwrite $ORIGIN $CACHE"
	echo "Benchmarks to run on this machine: $*"
	echo "They OVERWRITE the first and the last GiB of these devices, whatever the devices hold:"
	for device in "$ORIGIN" "$CACHE"; do
		echo "  $device, $(($(blockdev --getsize64 "$device") >> 20)) MiB: $(blkid -p -o value -s TYPE -s PTTYPE "$device" 2>/dev/null | paste -sd' ' | sed 's/^$/no known content/')"
	done
	echo "They load the modules dm-nearcache, dm-cache, dm-writecache and bcache into this kernel."
	echo "Type '$words' to continue:"
	read -r answer || answer=''
	[[ $answer == "$words" ]] || host_die "not confirmed: nothing was done"
}

# host_begin NAME...: check and confirm both devices for these benchmarks.
host_begin() {
	((!EUID)) || host_die "benchmarks on real devices need root"
	host_check ORIGIN
	host_check CACHE
	[[ $(host_number "$ORIGIN") != "$(host_number "$CACHE")" ]] || host_die "ORIGIN and CACHE are one device"
	host_confirm "$@"
	export ORIGIN CACHE
}
