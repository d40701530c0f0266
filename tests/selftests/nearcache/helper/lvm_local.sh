#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# LVM cannot take the local devices of a cache while they are in use. While they are closed, the filter
# that nearcache(7) shows keeps LVM from taking them; without the filter LVM takes them.
# kernels: 6.12
# cpus: 1
. ./staged.sh
. ./volume_group.sh
lvm_ready

# pvcreate DEV FILTER: let LVM take a device; its output is in $said.
pvcreate() {
	said=$(lvm pvcreate -y "$1" --config "devices { scan = [ \"/dev\" ] global_filter = [ \"$2\" ] use_devicesfile = 0
		obtain_device_list_from_udev = 0 external_device_info_source = \"none\" types = [ \"nullb\", 16 ] }
		activation { udev_sync = 0 udev_rules = 0 } global { event_activation = 0 use_lvmlockd = 0 }" 2>&1)
}

# refused DEV FILTER WORDS: LVM must refuse the device with these words.
refused() {
	! pvcreate "$1" "$2" || fail "pvcreate took $1: $said"
	[[ $said == *"$3"* ]] || fail "pvcreate $1: $said"
}

make_null O origin 64
make_null C local 24
make_null L log 32
at_exit rm -rf /etc/lvm /run/lvm /run/lock/lvm
at_exit staged_gone
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force
refused "$C" 'a|.*|' exclusively
refused "$L" 'a|.*|' exclusively
good close nc
refused "$C" "r|^$C\$|" filter
good super "$C"
pvcreate "$C" 'a|.*|' || fail "pvcreate without a filter: $said"
