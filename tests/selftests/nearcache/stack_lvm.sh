#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# LVM on a cache: create and use a volume group on the cache, then find and use it on the bare
# origin, and on the cache again.
# kernels: 6.12
# cpus: 1
. ./cache.sh

type lvm >/dev/null 2>&1 || skip "no lvm2 (package lvm2)"

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

# volumes DEV GENERATION: fail unless both volumes exist and hold this generation.
volumes() {
	vg "$1" vgchange -ay group
	./blockdata read /dev/mapper/group-one -g "$2" >/dev/null || fail "volume one is wrong"
	./blockdata read /dev/mapper/group-two -g "$2" -B -n 8192 >/dev/null || fail "volume two is wrong"
}

closed() {
	vg "$1" vgchange -an group
}

tidy() {
	local name
	for name in one two; do
		dm_gone group-$name
	done
	rm -rf /dev/group /run/lvm /run/lock/lvm
}

mkdir -p /run/lock/lvm /etc/lvm
export LVM_SYSTEM_DIR=/etc/lvm LVM_SUPPRESS_FD_WARNINGS=1
make_null O origin 24
make_null C local 32
for ((round = 0; round < $(times 1); round++)); do
	MODE=writethrough
	((round % 2 == 0)) || MODE=writearound
	format
	start
	at_exit tidy
	nc=/dev/mapper/nc
	vg $nc pvcreate -ff -y $nc
	vg $nc vgcreate -s 1m group $nc
	vg $nc lvcreate -y -Wn -Zn -L 8m -n one group
	vg $nc lvcreate -y -Wn -Zn -L 4m -n two group
	for name in one two; do
		./blockdata write /dev/mapper/group-$name -g 2 || fail "cannot write $name"
		./blockdata read /dev/mapper/group-$name -g 2 >/dev/null || fail "volume $name is wrong"
	done
	drop_caches
	volumes $nc 2
	vg $nc lvextend -L 6m group/two
	settle
	above hits 0
	closed $nc
	stop
	volumes "$O" 2
	closed "$O"
	start
	is loaded 2
	vg $nc vgchange -ay group
	same "size of volume two" "$(sectors /dev/mapper/group-two)" $((6 * 2048))
	./blockdata read /dev/mapper/group-one -g 2 >/dev/null || fail "volume one is wrong after the restart"
	vg $nc lvremove -y group/one group/two
	vg $nc vgremove -y group
	tidy
	stop
done
