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

lvm_ready
type udevadm >/dev/null 2>&1 || fail "no udevadm (package udev)"

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

# activate y|n: switch the volume group on or off, as the configuration says.
activate() {
	lvm vgchange -a"$1" group >"$TMPDIR/lvm" 2>&1 || fail "vgchange: $(<"$TMPDIR/lvm")"
}

# is_type TYPE: wait until udev's database has the origin as this type.
is_type() {
	wait_for 30 eval "udevadm info '$O' | grep -qx 'E: ID_FS_TYPE=$1'" ||
		fail "udev has the origin not as $1: $(udevadm info "$O")"
}

# udev DEVICE: start udev, and let it probe the device, with the rules of nearcache and short ones
# for the content.
udev() {
	mkdir -p /run/udev/rules.d
	cat >/run/udev/rules.d/60-short.rules <<-END
		SUBSYSTEM=="block", IMPORT{builtin}="blkid"
		ATTR{dm/uuid}=="?*", ENV{DM_UUID}="\$attr{dm/uuid}"
	END
	ln -sf "$(type -P udevadm)" "$TMPDIR/systemd-udevd"
	"$TMPDIR/systemd-udevd" >"$TMPDIR/udev" 2>&1 &
	at_exit rm -rf /run/udev
	at_exit kill "$!"
	wait_for 30 test -S /run/udev/control || fail "udev: $(<"$TMPDIR/udev")"
	udevadm trigger --action=add --settle "/sys/block/${1##*/}" || fail "udevadm trigger"
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
activate y
same "the device of the volume" "$(dmsetup deps -o devname group-one | sed 's/.*(\(.*\))/\1/')" nc
./blockdata write /dev/mapper/group-one -g 3 || fail "write"
./blockdata read /dev/mapper/group-one -g 3 >/dev/null || fail "read"
activate n

good close nc
udev "$O"
is_type LVM2_member
good open nc --origin "$O" --cache "$C" --mode writearound
is_type nearcache_origin
good close nc
is_type LVM2_member
