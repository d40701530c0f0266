#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A volume group on a cached device. LVM sees the label on the origin too: with the filter that
# 'create' and 'open' print, it must use the volume group through the cache. The udev rule hides
# the origin from LVM's event activation, but only while it is cached: udev's database follows.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./volume_group.sh
. ./udev.sh

lvm_ready

# configure [LINE]: write the configuration of LVM, with LINE.
configure() {
	cat >/etc/lvm/lvm.conf <<-END
		devices { scan = [ "/dev" ] use_devicesfile = 0 obtain_device_list_from_udev = 0
		external_device_info_source = "none" types = [ "nullb", 16, "device-mapper", 16 ] }
		activation { udev_sync = 0 udev_rules = 0 verify_udev_operations = 1 monitoring = 0 }
		global { event_activation = 0 use_lvmpolld = 0 use_lvmlockd = 0 }
		backup { backup = 0 archive = 0 }
		${1:-}
	END
}

# configured COMMAND...: run LVM with this configuration; its output is in $TMPDIR/lvm.
configured() {
	lvm "$@" >"$TMPDIR/lvm" 2>&1 || fail "lvm $*: $(<"$TMPDIR/lvm")"
}

# through: LVM must list the partition of nc, and not the one of the origin.
through() {
	grep -q /dev/mapper/ncp1 "$TMPDIR/lvm" && ! grep -q "$disk$mark" "$TMPDIR/lvm" ||
		fail "physical volumes: $(<"$TMPDIR/lvm")"
}

tidy() {
	vg_gone one
	rm -rf /etc/lvm
}

make_null O origin 64
make_null C local 32
at_exit dm_gone nc
at_exit tidy
configure
good create nc --origin "$O" --cache "$C" --block-size 64K --mode writearound -j
[[ $out == *'"lvm_needs": null'* ]] || fail "an origin without a label: $out"
good close nc
vg_create "$O" one=8m
vg "$O" vgchange -an group
line="devices { global_filter = [ \"r|^$O\$|\" ] }"
good create nc --origin "$O" --cache "$C" --block-size 64K --force
[[ $out == *'LVM needs'*"$line"* ]] || fail "create does not print the filter: $out"
good close nc
good open nc --origin "$O" --cache "$C" --mode writearound
[[ $out == *'LVM needs'*"$line"* ]] || fail "open does not print the filter: $out"

configure "$line"
configured vgchange -ay group
same "the device of the volume" "$(dmsetup deps -o devname group-one | sed 's/.*(\(.*\))/\1/')" nc
./blockdata write /dev/mapper/group-one -g 3 || fail "write"
./blockdata read /dev/mapper/group-one -g 3 >/dev/null || fail "read"
configured vgchange -an group

good close nc
udev "$O"
is_type LVM2_member
good open nc --origin "$O" --cache "$C" --mode writearound
is_type nearcache_origin
good close nc
is_type LVM2_member

# --- in a partition ---

configure
configured vgremove -ff -y group
configured pvremove -ff -y "$O"
./partition_table mbr "$O" 2048 $((60 << 11))
blockdev --rereadpt "$O"
mark=
[[ $O != *[0-9] ]] || mark=p
disk=$O O=$O${mark}1
wait_for 30 test -b "$O"
configured pvcreate -ff -y "$O"
configured vgcreate -s 1m parted "$O"
udevadm trigger --action=add --settle "/sys/class/block/${O##*/}"
is_type LVM2_member
line="devices { global_filter = [ \"r|^$disk$mark[0-9]+\$|\" ] }"
good create nc --origin "$disk" --cache "$C" --block-size 64K --force
[[ $out == *'LVM needs'*"$line"* ]] || fail "create does not print the filter of a partition: $out"
is_type nearcache_origin
dm_create ncp1 "0 $((60 << 11)) linear /dev/mapper/nc 2048" >/dev/null
at_exit dm_gone ncp1
configure "$line"
configured pvs --noheadings -o pv_name
through
dm_gone ncp1
good close nc
is_type LVM2_member

# --- with LVM's devices file ---

O=$disk
mkdir -p /etc/lvm/devices
configure
sed -i 's/use_devicesfile = 0/use_devicesfile = 1/' /etc/lvm/lvm.conf
configured lvmdevices -y --adddev "$O${mark}1"
good open nc --origin "$O" --cache "$C"
[[ $out == *"lvmdevices --deldev '$O${mark}1'; lvmdevices --adddev with this partition on '/dev/mapper/nc'; or,"*"$line"* ]] ||
	fail "open does not print the change of the devices file: $out"
dm_create ncp1 "0 $((60 << 11)) linear /dev/mapper/nc 2048" >/dev/null
configured lvmdevices -y --deldev "$O${mark}1"
configured lvmdevices -y --adddev /dev/mapper/ncp1
configured pvs --noheadings -o pv_name
through
dm_gone ncp1
good close nc
