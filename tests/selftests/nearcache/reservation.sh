# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for a SCSI volume that has persistent reservations, and two nodes: . ./reservation.sh
#
# The volume is a target of the kernel. Each node has a session of its own with it, and so a path of
# its own: registrations of one node are not those of the other. The test includes command.sh before.
no_settings

TARGET=/sys/kernel/config/target

# volume_node VARIABLE NUMBER: connect a node with the volume, and store the path of its disk.
volume_node() {
	local -n node=$1
	local tpg=$TARGET/loopback/naa.500000000000000$2/tpgt_1 host
	mkdir -p "$tpg/lun/lun_0"
	echo "naa.600000000000000$2" >"$tpg/nexus" || fail "no session of node $2"
	ln -s "$TARGET/core/iblock_0/volume" "$tpg/lun/lun_0/volume"
	host=$(<"$tpg/address")
	wait_for 20 disk_of "${host%:*}" || fail "no disk of node $2"
	node=$REPLY
}

# disk_of HOST: set REPLY to the path of the disk at HOST:CHANNEL:ID.
disk_of() {
	local disk
	for disk in /sys/class/scsi_disk/"$1":*/device/block/*; do
		[[ -b /dev/${disk##*/} ]] && REPLY=/dev/${disk##*/} && return
	done
	return 1
}

# make_volume MB [ATTRIBUTE...]: make the volume, on a null_blk device with these attributes, and the disk
# $O of this node and $O2 of another one.
make_volume() {
	local part
	for part in sd_mod target_core_mod target_core_iblock tcm_loop; do
		modprobe $part 2>/dev/null || [[ $part == sd_mod ]] || skip "no module $part"
	done
	# Registrations survive a restart of the target if it can write them here.
	mkdir -p /var/target/pr
	make_null backing backing "$1" cache_size=1 "${@:2}"
	mkdir -p "$TARGET/core/iblock_0/volume"
	at_exit volume_gone
	echo "udev_path=$backing" >"$TARGET/core/iblock_0/volume/control"
	echo reserve-test >"$TARGET/core/iblock_0/volume/wwn/vpd_unit_serial"
	echo 1 >"$TARGET/core/iblock_0/volume/enable" || fail "no volume"
	volume_node O 1
	volume_node O2 2
}

volume_gone() {
	local tpg
	for tpg in "$TARGET"/loopback/naa.*/tpgt_1; do
		[[ -d $tpg ]] || continue
		rm -f "$tpg/lun/lun_0/volume"
		rmdir "$tpg/lun/lun_0" "$tpg" "${tpg%/*}"
	done
	rmdir "$TARGET/core/iblock_0/volume" "$TARGET/core/iblock_0" "$TARGET/loopback" 2>/dev/null
	modprobe -r tcm_loop target_core_iblock target_core_mod
}

# other_writes: write 4 KiB at 32 MiB as the other node.
other_writes() {
	dd if=/dev/zero of="$O2" bs=4K seek=8192 count=1 oflag=direct 2>/dev/null
}

# gone: remove the dm devices of the cache nc.
gone() {
	dm_gone nc
	dm_gone nc-stage
}
