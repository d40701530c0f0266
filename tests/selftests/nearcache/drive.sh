# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Pull out, plug in and hang the local drive, $C: . ./drive.sh, after common.sh.

# controller: print the drive's directory in sysfs; fails while it is unplugged.
controller() {
	local dir serial transport
	for dir in /sys/class/nvme/nvme*; do
		read -r serial 2>/dev/null <"$dir/serial" || continue
		read -r transport <"$dir/transport"
		[[ ${serial%% *} == local && $transport == pcie ]] || continue
		echo "$dir"
		# "return 0": in a trap, a bare return returns the status from before the trap.
		return 0
	done
	return 1
}

pull() {
	echo 1 >"$(controller)/device/remove"
	! controller >/dev/null || fail "the drive is still there"
}

plugged() {
	[[ -b $(local_dev 2>/dev/null) ]]
}

# plug: plug the drive in unless it is present; sets C.
plug() {
	controller >/dev/null || echo 1 >/sys/bus/pci/rescan
	wait_for 30 plugged || fail "the drive did not come back"
	C=$(local_dev)
	[[ $C ]]
}

# patience MS: set the request timeout of the NVMe driver.
patience() {
	echo "$1" | tee "$(controller)"/nvme*n*/queue/io_timeout >/dev/null || fail "no io_timeout"
}

# hang MS: the drive stops answering. A request times out after MS and its abort after 2 * MS; then
# the driver resets the drive, which works again.
hang() {
	local device
	device=$(readlink -f "$(controller)/device")
	patience "$1"
	# Clear the PCI command register: the drive then has no registers, interrupts or DMA.
	printf '\0\0' | dd of="$device/config" bs=1 seek=4 conv=notrunc 2>/dev/null ||
		fail "cannot switch off $device"
}

# need_drive: skip the test unless the drive is plugged in; plug it in at exit; sets C.
need_drive() {
	controller >/dev/null || skip "no NVMe drive on PCI"
	C=$(local_dev)
	at_exit plug
}
