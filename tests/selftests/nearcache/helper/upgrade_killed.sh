#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache upgrade is killed at its steps: the devices serve reads, and the next upgrade or open
# finishes the work, with all data warm. In 'make soak' it is killed at each third ioctl as well.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./upgrading.sh

# reads: do both devices serve reads, whatever tables they have?
reads() {
	same "the data" "$(dd if="$TMPDIR/nc/data" bs=64k iflag=direct 2>/dev/null | md5sum)" "$sum"
	dd if=/dev/mapper/wr of=/dev/null bs=64k count=16 iflag=direct 2>/dev/null || fail "cannot read wr"
}

# whole: fail unless both devices have their caches and settings, and writers do not wait.
whole() {
	[[ ! -e /run/nearcache/upgrade ]] || fail "the record stays"
	is state 0 nc
	is state 0 wr
	good ranges nc
	[[ $out == *bypass*out* ]] || fail "no range: $out"
	timeout 5 touch "$TMPDIR/wr/written" || fail "the file system stays frozen"
	# reads() then finds all data in the cache.
	reads
	is miss_bytes 0
}

# killed WHAT: kill the command there; set $rc.
killed() {
	injected "$1:signal=KILL" upgrade --module "$MODULE"
	reads
}

# finish HOW: finish the upgrade.
finish() {
	if [[ $1 == open && -e /run/nearcache/upgrade ]]; then
		good open nc
		[[ $out == *"interrupted upgrade is finished"* ]] || fail "$out"
	else
		good upgrade --module "$MODULE"
	fi
	whole
}

# again_empty: close "wr", which has no cache, and open it again: the cache must be empty.
again_empty() {
	run status wr
	[[ $err$out == *"passes through to its origin without its cache"* ]] || fail "status: $out $err"
	umount "$TMPDIR/wr"
	run close wr
	[[ $rc == 0 && $err == *"passes through to its origin without its cache"* ]] || fail "close: $rc $err"
	run open wr --origin "$O_wr" --cache "$C_wr"
	[[ $rc == 0 ]] || fail "open: $err"
	is blocks_used 0 wr
	mount /dev/mapper/wr "$TMPDIR/wr" || fail "mount"
}

type -P strace >/dev/null || skip "no strace"
upgrade_devices
good pin nc 40M-41M --no-load --bypass --label out
sum=$(md5sum <"$TMPDIR/nc/data")
# Before and after the first record; before the tables of readers; frozen, before the tables of
# writers; without the tables.
for what in rename mlockall rename:when=2 rename:when=3 delete_module; do
	killed "$what"
	[[ $rc == 137 ]] || fail "not killed at $what: $rc $(<"$TMPDIR/said")"
	finish open
	killed "$what"
	[[ $rc == 137 ]] || fail "not killed at $what: $rc $(<"$TMPDIR/said")"
	finish upgrade
done
# Without the tables and the module.
killed delete_module
rmmod dm-nearcache || fail "the module has users"
reads
finish open
# Another module, killed before the old one is unloaded: the devices come back, and the command says
# that the module is not changed. Without the module and its file: the old one comes back.
source=$(</sys/module/dm_nearcache/srcversion)
LC_ALL=C sed "s/srcversion=$source/srcversion=${source:0:-1}Z/" "$MODULE" >"$TMPDIR/other.ko"
injected delete_module:signal=KILL upgrade --module "$TMPDIR/other.ko"
run upgrade
[[ $rc == 5 && $err == *"'$TMPDIR/other.ko' is not loaded: run this command again"* ]] || fail "$rc $err"
whole
injected delete_module:signal=KILL upgrade --module "$TMPDIR/other.ko"
rmmod dm-nearcache && rm "$TMPDIR/other.ko"
run open nc
[[ $rc == 4 && $err == *"cannot load module '$TMPDIR/other.ko'"* ]] || fail "$rc $err"
same "the module" "$(</sys/module/dm_nearcache/srcversion)" "$source"
whole
# A user thaws the file system, and a process could write to the device: the cache must not come back.
killed delete_module
fsfreeze --unfreeze "$TMPDIR/wr" || fail "not frozen"
exec 8<>/dev/mapper/wr
run upgrade
exec 8<&-
[[ $rc == 5 && $err == *"'wr' is open for writing by process $$"*"passes through to its origin"* ]] || fail "upgrade: $rc $err"
[[ $(dmsetup table wr) == *linear* ]] || fail "wr has its cache"
again_empty
# A user thaws the file system and writes: the cache must not come back.
killed delete_module
fsfreeze --unfreeze "$TMPDIR/wr" || fail "not frozen"
echo text >"$TMPDIR/wr/new"
sync "$TMPDIR/wr/new"
run upgrade
[[ $rc == 4 && $err == *"'wr' was written to while its cache was closed"* ]] || fail "upgrade: $rc $err"
[[ $(dmsetup table wr) == *linear* ]] || fail "wr has its cache"
[[ $(dmsetup table nc) == *nearcache* ]] || fail "nc has no cache"
again_empty
same "the file" "$(<"$TMPDIR/wr/new")" text
[[ ! -e /run/nearcache/upgrade ]] || fail "the record stays"
# Killed between the load of a table and its start: any resume would start it.
killed rename:when=2
for name in nc wr; do
	declare -n origin=O_$name
	dmsetup load $name --table "0 $(blockdev --getsz /dev/mapper/$name) linear $origin 0" || fail "load"
done
finish upgrade
for name in nc wr; do
	dmsetup suspend --noudevsync $name && dmsetup resume --noudevsync $name || fail "resume"
	[[ $(dmsetup table $name) == *nearcache* ]] || fail "$name has a table of a killed run"
done
if [[ ${SOAK:-0} != 0 ]]; then
	good prefetch nc "$TMPDIR/nc/data" --wait
	for ((i = 1; ; i += 3)); do
		killed "ioctl:when=$i"
		[[ $rc == 137 ]] || break
		finish "$( ((i % 2)) && echo open || echo upgrade)"
	done
	((i > 60)) || fail "only $i ioctls: $rc $(<"$TMPDIR/said")"
fi
