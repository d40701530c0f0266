# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests with udev: . ./udev.sh, after cache.sh.
type udevadm >/dev/null 2>&1 || fail "no udevadm (package udev)"

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
	at_exit rm -rf /run/udev /dev/disk
	at_exit udev_stop $!
	wait_for 30 udevadm control --ping --timeout 30 2>/dev/null || fail "udev: $(<"$TMPDIR/udev")"
	udevadm trigger --action=add --settle "/sys/block/${1##*/}" || fail "udevadm trigger"
}

# udev_stop PID: end udev; it writes nothing afterwards.
udev_stop() {
	kill "$1"
	wait "$1" || true
}

# is_type TYPE: wait until udev's database has the origin as this type.
is_type() {
	wait_for 30 eval "udevadm info '$O' | grep -qx 'E: ID_FS_TYPE=$1'" ||
		fail "udev has the origin not as $1: $(udevadm info "$O")"
}
