#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nothing takes the stage for the volume before the cache is above it: udev hides its content from the
# rules of mdadm, btrfs and LVM, and links by content do not lead to it.
# kernels: 6.12
# cpus: 1
. ./staged.sh
. ./udev.sh

gone() {
	staged_gone
	rm -rf /dev/disk/by-uuid
}

# link: where the link by the uuid of the file system leads.
link() {
	readlink -f "/dev/disk/by-uuid/$uuid"
}

# node DEV: its node with the name of the kernel, to which links lead.
node() {
	echo "/dev/$(basename "$(sys_block "$1")")"
}

# probed DEV: let udev probe the device; its database is in $said.
probed() {
	udevadm trigger --action=change --settle "$(sys_block "$1")" || fail "udevadm trigger"
	said=$(udevadm info "$(sys_block "$1")")
}

make_null O origin 64
make_null C local 24
make_null L log 32
mkfs.ext4 -q "$O" || fail "mkfs"
uuid=$(blkid -p -o value -s UUID "$O")
at_exit gone
udev "$O"
cat >/run/udev/rules.d/61-short.rules <<'END'
ENV{ID_FS_UUID_ENC}=="?*", SYMLINK+="disk/by-uuid/$env{ID_FS_UUID_ENC}"
END
cat >/run/udev/rules.d/63-short.rules <<'END'
ENV{ID_FS_TYPE}=="ext4", ENV{TAKEN}="yes"
END
udevadm control --reload || fail "udevadm control"
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force
# As if the command had been killed between the two devices.
udevadm settle
dmsetup remove --noudevsync --retry nc || fail "dmsetup remove"
probed "$O"
probed /dev/mapper/nc-stage
[[ $said == *"E: ID_FS_TYPE=nearcache_origin"* && $said != *TAKEN* ]] || fail "the stage: $said"
same "the link without the cache" "$(link)" "$O"
good open nc --cache "$C" --origin "$O"
probed /dev/mapper/nc
[[ $said == *"E: TAKEN=yes"* ]] || fail "the cache is hidden: $said"
same "the link" "$(link)" "$(node /dev/mapper/nc)"
