#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# udev names the content of a cache device, a log and a witness, and so lsblk shows it. Other devices,
# and disks with a partition table, are not named, and no link by uuid leads to the named devices.
# kernels: 6.12
# cpus: 1
. ./staged.sh
. ./udev.sh

gone() {
	staged_gone
	rm -rf /dev/disk/by-uuid
}

# named DEV: print type, uuid and label, as lsblk has them from udev's database.
named() {
	udevadm trigger --action=change --settle "$(sys_block "$1")" || fail "udevadm trigger"
	lsblk -ndro FSTYPE,UUID,LABEL "$1" || fail "lsblk"
}

# uuid_of DEV: the uuid in its superblock.
uuid_of() {
	good super "$1" -j
	json uuid
}

make_null O origin 64
make_null C local 24
make_null L log 32
make_null W witness 1
mkfs.ext4 -q -L data "$O" || fail "mkfs"
volume=$(blkid -p -o value -s UUID "$O")
at_exit gone
udev "$O"
cat >/run/udev/rules.d/61-short.rules <<'END2'
ENV{ID_FS_USAGE}=="filesystem|other|crypto", ENV{ID_FS_UUID_ENC}=="?*", SYMLINK+="disk/by-uuid/$env{ID_FS_UUID_ENC}"
END2
udevadm control --reload || fail "udevadm control"
for dev in "$C" "$L" "$W"; do
	same "an empty device" "$(named "$dev")" "  "
done
good create nc --origin "$O" --cache "$C" --stage "$L" --witness "$W" --block-size 64K --force
cache=$(uuid_of "$C") log=$(uuid_of "$L")
for round in open closed; do
	same "the $round cache device" "$(named "$C")" "nearcache_cache $cache nc"
	same "the $round log" "$(named "$L")" "nearcache_stage $log nc"
	same "the $round witness" "$(named "$W")" "nearcache_witness $cache "
	[[ $round == closed ]] || same "the device" "$(named /dev/mapper/nc)" "ext4 $volume data"
	for uuid in "$cache" "$log"; do
		[[ ! -e /dev/disk/by-uuid/$uuid ]] || fail "a link by $uuid: $(readlink -f "/dev/disk/by-uuid/$uuid")"
	done
	[[ $round == closed ]] || good close nc
done
same "the volume" "$(named "$O")" "ext4 $volume data"
./partition_table mbr "$L" 2048 4096
same "a partition table" "$(named "$L")" "  "
dd if=/dev/zero of="$L" bs=512 count=1 oflag=direct 2>/dev/null
same "the log again" "$(named "$L")" "nearcache_stage $log nc"
good destroy --cache "$C" --force
same "the cache device after its end" "$(named "$C")" "  "
