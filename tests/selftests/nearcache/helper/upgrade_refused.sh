#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache upgrade refuses by name what cannot take part, before it changes anything. A module that
# does not load leaves the old one, with all devices warm.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./upgrading.sh

# edited NAME FROM TO...: make a copy of the module in which each FROM is replaced by a TO of the same length.
edited() {
	local file=$TMPDIR/$1.ko
	cp "$MODULE" "$file"
	shift
	while (($#)); do
		LC_ALL=C sed -i "s/$1/$2/g" "$file"
		shift 2
	done
	cmp -s "$file" "$MODULE" && fail "nothing to edit"
	true
}

# refused CODE TEXT [OPTIONS]: the upgrade must fail so, and change nothing.
refused() {
	local tables before
	tables=$(dmsetup table)
	before=$(stat -c %i /sys/module/dm_nearcache)
	bad "$1" "$2" upgrade --module "${3:-$MODULE}" "${@:4}"
	same "the tables" "$(dmsetup table)" "$tables"
	same "the module" "$(stat -c %i /sys/module/dm_nearcache)" "$before"
	[[ ! -e /run/nearcache/upgrade ]] || fail "a record"
}

upgrade_devices
source=$(</sys/module/dm_nearcache/srcversion)
other=${source:0:-1}Z
bad 4 "cannot open module '/none'" upgrade --module /none
refused 4 "is no module 'dm-nearcache'" /etc/passwd
edited format cache_format=1 cache_format=2
refused 4 "reads on-disk format 2, and cache device '$C_nc' has format 1" "$TMPDIR/format.ko"
edited silent cache_format= other_format=
refused 4 "does not say which on-disk formats it reads" "$TMPDIR/silent.ko"
edited kernel "vermagic=$(uname -r | cut -c1-3)" vermagic=0.0
refused 4 "is built for kernel 0.0" "$TMPDIR/kernel.ko"
refused 1 "'nc' uses the module as well" "$MODULE" wr
refused 4 "there is no device 'xx'" "$MODULE" wr nc xx

iostats=/sys/dev/block/$(number /dev/mapper/wr)/queue/iostats
echo 0 >"$iostats"
refused 4 "the kernel does not count the writes to 'wr'"
echo 1 >"$iostats"
# A cache in a file of the file system that would be frozen.
modprobe loop || fail "no loop devices"
truncate -s 24M "$TMPDIR/wr/file"
loop=$(losetup -f --show "$TMPDIR/wr/file") || fail "losetup"
make_null O_lo olo 16
good create lo --origin "$O_lo" --cache "$loop" --block-size 64K
refused 5 "'lo' uses the file '$TMPDIR/wr/file' on the file system of 'wr'"
good close lo
losetup -d "$loop"
rm "$TMPDIR/wr/file"
# A swap file: freezing does not stop it.
dd if=/dev/zero of="$TMPDIR/wr/swap" bs=1M count=2 2>/dev/null && chmod 600 "$TMPDIR/wr/swap" &&
	mkswap "$TMPDIR/wr/swap" >/dev/null && swapon "$TMPDIR/wr/swap" || fail "no swap"
at_exit 'swapoff -a'
refused 5 "'wr' has swap, or a swap file"
swapoff "$TMPDIR/wr/swap"
rm "$TMPDIR/wr/swap"
exec 8<>/dev/mapper/wr
refused 5 "'wr' is open for writing by process $$"
exec 8<&-
umount "$TMPDIR/wr"
make_dm above above "0 1024 linear /dev/mapper/wr 0"
refused 5 "'wr' is below the device 'dm-"
dm_remove above
mount /dev/mapper/wr "$TMPDIR/wr" || fail "mount"
fsfreeze --freeze "$TMPDIR/wr"
refused 5 "is frozen already"
fsfreeze --unfreeze "$TMPDIR/wr"
timeout 5 touch "$TMPDIR/wr/written" || fail "it stays frozen"
dmsetup suspend --noudevsync nc
refused 5 "'nc' is suspended"
dmsetup resume --noudevsync nc
dmsetup load nc --table "$(dmsetup table nc)"
refused 5 "the module has 1 users besides the devices"
dmsetup clear nc

good upgrade --module "$MODULE" --dry-run
[[ $out == *"would change"* ]] || fail "$out"
good upgrade
[[ $out == *"up to date"* ]] || fail "$out"

# A module that fails at its init.
edited broken nearcache-peers nearcache-stage "srcversion=$source" "srcversion=$other"
run upgrade --module "$TMPDIR/broken.ko"
[[ $rc == 4 && $err == *"cannot load module"*"the old module is loaded again"* ]] || fail "$rc $err"
same "the module" "$(</sys/module/dm_nearcache/srcversion)" "$source"
timeout 5 touch "$TMPDIR/wr/written" || fail "it stays frozen"
dd if="$TMPDIR/nc/data" bs=64k iflag=direct of=/dev/null 2>/dev/null
is state 0 nc
is state 0 wr
above hits 0
is miss_bytes 0

# A module that does not accept the tables of one mode.
edited tables writearound writearoung "srcversion=$source" "srcversion=$other"
run upgrade --module "$TMPDIR/tables.ko"
[[ $rc == 4 && $err == *"the old module is loaded again"* ]] || fail "$rc $err"
[[ $(dmsetup table wr) == *writearound* && $(dmsetup table nc) == *read-only* ]] || fail "$(dmsetup table)"
timeout 5 touch "$TMPDIR/wr/written" || fail "it stays frozen"

# Another module, and the way back to it is kept.
edited other "srcversion=$source" "srcversion=$other"
good upgrade --module "$TMPDIR/other.ko"
same "the module" "$(</sys/module/dm_nearcache/srcversion)" "$other"
kept=/var/lib/nearcache/module/$other-$(uname -r).ko
[[ -e $kept ]] || fail "the module is not kept"
# A copy that is cut is no way back.
truncate -s 4096 "$kept"
refused 4 "the file of the loaded module (srcversion $other) is neither installed nor in"
rm "$kept"
refused 4 "the file of the loaded module (srcversion $other) is neither installed nor in"
good upgrade --module "$MODULE" --force
good upgrade wr nc --module "$MODULE"
