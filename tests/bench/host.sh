# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Benchmarks on real devices, of this machine: what is looked at, and said, before anything is
# written. Included by run, with $ORIGIN and $CACHE.
# shellcheck disable=SC2154 # devices are set by who includes this

# What the largest benchmark takes of a device, MiB.
HOST_MB=1200

host_die() {
	echo "bench: $*" >&2
	exit 2
}

# host_number DEVICE: its major:minor.
host_number() {
	local number
	number=$(stat -L -c '%t:%T' "$1")
	echo "$((16#${number%:*})):$((16#${number#*:}))"
}

# host_used DEVICE: by whom it, or a partition of it, is in use; nothing when by nobody.
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
	# Whoever else has it for himself, as the kernel sees it.
	dmsetup create --noudevsync bench-probe --table "0 8 linear $1 0" 2>/dev/null || { echo "claimed"; return; }
	dmsetup remove --noudevsync --retry bench-probe
}

# host_check VARIABLE: a device that may be overwritten.
host_check() {
	local device=${!1:-} used mb
	[[ $device ]] || host_die "on real devices: HOST=1 ORIGIN=/dev/... CACHE=/dev/...: no $1"
	[[ -b $device ]] || host_die "$1: '$device' is no block device"
	used=$(host_used "$device")
	[[ ! $used ]] || host_die "$1: '$device' is in use: $used"
	mb=$(($(blockdev --getsize64 "$device") >> 20))
	((mb >= HOST_MB)) || host_die "$1: '$device' has $mb MiB, less than $HOST_MB"
}

# host_confirm NAME...: says what will be done, and waits until it is typed.
host_confirm() {
	local answer words device
	words="overwrite $ORIGIN $CACHE"
	echo "These benchmarks will be run on this machine: $*"
	echo "Their first and last GiB ARE OVERWRITTEN, WHATEVER THEY HOLD, again and again:"
	for device in "$ORIGIN" "$CACHE"; do
		echo "  $device, $(($(blockdev --getsize64 "$device") >> 20)) MiB: $(blkid -p -o value -s TYPE -s PTTYPE "$device" 2>/dev/null | paste -sd' ' | sed 's/^$/nothing known on it/')"
	done
	echo "The module dm-nearcache, and those of dm-cache, dm-writecache and bcache, are loaded into this kernel."
	echo "Type '$words' to go on:"
	read -r answer || answer=''
	[[ $answer == "$words" ]] || host_die "not confirmed: nothing was done"
}

# host_begin NAME...
host_begin() {
	((!EUID)) || host_die "on real devices benchmarks run as root"
	host_check ORIGIN
	host_check CACHE
	[[ $(host_number "$ORIGIN") != "$(host_number "$CACHE")" ]] || host_die "ORIGIN and CACHE are one device"
	host_confirm "$@"
	export ORIGIN CACHE
}
