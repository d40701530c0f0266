#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# timeout: 240
# Memory is short, and what frees it goes through the cache: swap, and a file system's
# dirty pages. Nothing stands still, and all data are right.
# cpus: 1
. ./cache.sh

available() {
	awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo
}

# On the emulated drives: null_blk would have to keep the swapped pages in memory.
make_dm O origin "0 $((512 * 2048)) linear $(remote_backing) 0"
make_dm C local "0 $((48 * 2048)) linear $(local_dev) 0"
format
swap='' data=''
mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
swap_off() {
	! grep -q partition /proc/swaps || swapoff "$swap"
}

# lines I: 4 MiB.
lines() {
	yes "nearcache line of file $1" | head -c 4194304
}

# Of the device: not every kernel counts events of memory.
pages_out() {
	awk '{ print int($7 / 8) }' "$(sys_block "$swap")/stat"
}

# crowd MODE MIB: with so much more than there is room for.  False: nothing was swapped.
crowd() {
	local hog i before
	MODE=$1 reload "$options" || fail "reload to $1"
	before=$(pages_out)
	drop_caches
	# Huge pages that nobody uses are the quickest way to be rid of memory.
	echo $((($(available) - 80) / 2)) >/proc/sys/vm/nr_hugepages
	echo "$1: $(available) MiB are left"
	./memhog $(($(available) + $2)) "$(times 3)" >"$TMPDIR/check" &
	hog=$!
	for ((i = 0; i < 4; i++)); do
		lines "$1$i" >"$TMPDIR/mnt/$i" || fail "cannot write"
		sync
	done
	wait $hog || fail "what came back from the swap is wrong: $(<"$TMPDIR/check")"
	for ((i = 0; i < 4; i++)); do
		lines "$1$i" | cmp - "$TMPDIR/mnt/$i" || fail "file $i is wrong"
	done
	memory_back
	echo "$(($(pages_out) - before)) pages went to the swap"
	(($(pages_out) - before > 1024))
}

# crowds MODE: a kernel that keeps what was freed for a while has more room than it says.
crowds() {
	local more
	for more in 80 120 160; do
		! crowd "$1" $more || return 0
	done
	fail "nothing was swapped"
}

memory_back() {
	echo 0 >/proc/sys/vm/nr_hugepages
}

# With what is swapped in front of it any device is slow.
options='4 fill_memory 1048576 cache_timeout 0'
start nc "$options"
MODE=writethrough reload "$options" || fail "reload"
# More than is swapped: what came back keeps its place for a while.
make_dm swap swap "0 $((384 * 2048)) linear /dev/mapper/nc 0"
make_dm data data "0 $((128 * 2048)) linear /dev/mapper/nc $((384 * 2048))"
mkswap "$swap" >/dev/null || fail "mkswap"
mkfs.ext4 -q "$data" || fail "mkfs"
mount "$data" "$TMPDIR/mnt" || fail "mount"
at_exit umount "$TMPDIR/mnt"
swapon "$swap" || fail "swapon"
at_exit swap_off
at_exit memory_back
for ((round = 0; round < $(times 1); round++)); do
	crowds writethrough
done
is state 0
umount "$TMPDIR/mnt"
swapoff "$swap" || fail "swapoff"
e2fsck -fn "$data" >/dev/null || fail "the file system is damaged"
mount "$data" "$TMPDIR/mnt" || fail "mount"
for ((i = 0; i < 4; i++)); do
	lines "writethrough$i" | cmp - "$TMPDIR/mnt/$i" || fail "file $i is wrong"
done
