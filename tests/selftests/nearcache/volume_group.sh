# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests with a volume group 'group' of LVM: . ./volume_group.sh, after cache.sh.

# lvm_ready: skip the test without LVM; prepare what LVM expects of a host.
lvm_ready() {
	type lvm >/dev/null 2>&1 || skip "no lvm2 (package lvm2)"
	mkdir -p /run/lock/lvm /etc/lvm
	export LVM_SYSTEM_DIR=/etc/lvm LVM_SUPPRESS_FD_WARNINGS=1
}

# vg DEV COMMAND...: run LVM so that it sees only this device, and without udev.
vg() {
	local config="devices { scan = [ \"/dev\" ] filter = [ \"a|^$1\$|\", \"r|.*|\" ] use_devicesfile = 0
obtain_device_list_from_udev = 0 external_device_info_source = \"none\" multipath_component_detection = 0
types = [ \"nullb\", 16 ] md_component_detection = 0 write_cache_state = 0 }
activation { udev_sync = 0 udev_rules = 0 verify_udev_operations = 1 monitoring = 0 }
global { event_activation = 0 use_lvmpolld = 0 use_lvmlockd = 0 }
backup { backup = 0 archive = 0 }"
	lvm "${@:2}" --config "$config" >"$TMPDIR/lvm" 2>&1 || fail "lvm ${*:2}: $(<"$TMPDIR/lvm")"
}

# vg_create DEV VOLUME=SIZE...: make DEV a physical volume of 'group' with these logical volumes.
vg_create() {
	local volume
	vg "$1" pvcreate -ff -y "$1"
	vg "$1" vgcreate -s 1m group "$1"
	for volume in "${@:2}"; do
		vg "$1" lvcreate -y -Wn -Zn -L "${volume#*=}" -n "${volume%%=*}" group
	done
}

# vg_gone VOLUME...: remove the dm devices of these logical volumes, and LVM's files.
vg_gone() {
	local volume
	for volume; do
		dm_gone "group-$volume"
	done
	rm -rf /dev/group /run/lvm /run/lock/lvm
}
