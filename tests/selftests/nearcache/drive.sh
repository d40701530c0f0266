# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The local drive, pulled out and plugged in: . ./drive.sh, after common.sh. Its device is $C.

# controller: the drive's directory in sysfs; false while it is out.
controller() {
	local dir serial transport
	for dir in /sys/class/nvme/nvme*; do
		read -r serial 2>/dev/null <"$dir/serial" || continue
		read -r transport <"$dir/transport"
		[[ ${serial%% *} == local && $transport == pcie ]] || continue
		echo "$dir"
		# Also in a trap.
		return 0
	done
	return 1
}

pull() {
	echo 1 >"$(controller)/device/remove"
	! controller >/dev/null || fail "it is still there"
}

plugged() {
	[[ -b $(local_dev 2>/dev/null) ]]
}

# plug: it is in again; sets C.
plug() {
	controller >/dev/null || echo 1 >/sys/bus/pci/rescan
	wait_for 30 plugged || fail "the drive did not come back"
	C=$(local_dev)
	[[ $C ]]
}

# patience MS: so long the driver waits for an answer.
patience() {
	echo "$1" | tee "$(controller)"/nvme*n*/queue/io_timeout >/dev/null || fail "no io_timeout"
}

# hang MS: it answers nothing any more. Its requests wait so long, then twice that; then the
# driver resets it, and it works again.
hang() {
	local device
	device=$(readlink -f "$(controller)/device")
	patience "$1"
	# PCI's command register: no access to its memory, no interrupts, no DMA.
	printf '\0\0' | dd of="$device/config" bs=1 seek=4 conv=notrunc 2>/dev/null ||
		fail "cannot switch off $device"
}

# need_drive: it is in, and will be afterwards; sets C.
need_drive() {
	controller >/dev/null || skip "no NVMe drive on PCI"
	C=$(local_dev)
	at_exit plug
}
