#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# timeout: 240
# Memory is short, and the kernel frees memory by writes through the cache: of swap, and of dirty
# pages of a file system. Nothing may hang, and all data must be right.
# cpus: 1
# when: soak
. ./cache.sh

available() {
	awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo
}

# Use the emulated drives: null_blk would keep the swapped pages in memory.
make_dm O origin "0 $((512 * 2048)) linear $(remote_backing) 0"
make_dm C local "0 $((48 * 2048)) linear $(local_dev) 0"
format
swap='' data=''
mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
swap_off() {
	! grep -q partition /proc/swaps || swapoff "$swap"
}

# lines I: print 4 MiB of text.
lines() {
	yes "nearcache line of file $1" | head -c 4194304
}

# pages_out: print the pages swapped out, by the statistics of the device, as in every kernel.
pages_out() {
	awk '{ print int($7 / 8) }' "$(sys_block "$swap")/stat"
}

# crowd MODE MIB: use MIB more memory than is available; false if nothing was swapped.
crowd() {
	local hog i before
	MODE=$1 reload "$options" || fail "reload to $1"
	before=$(pages_out)
	drop_caches
	# Reserving unused huge pages is the quickest way to take memory away.
	echo $((($(available) - 80) / 2)) >/proc/sys/vm/nr_hugepages
	echo "$1: $(available) MiB are left"
	./memhog $(($(available) + $2)) "$(times 3)" >"$TMPDIR/check" &
	hog=$!
	for ((i = 0; i < 4; i++)); do
		lines "$1$i" >"$TMPDIR/mnt/$i" || fail "cannot write"
		sync
	done
	wait $hog || fail "data read back from swap is wrong: $(<"$TMPDIR/check")"
	for ((i = 0; i < 4; i++)); do
		lines "$1$i" | cmp - "$TMPDIR/mnt/$i" || fail "file $i is wrong"
	done
	memory_back
	echo "$(($(pages_out) - before)) pages went to the swap"
	(($(pages_out) - before > 1024))
}

# crowds MODE: use more memory until pages are swapped: a debug kernel has more than it reports.
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

# cache_timeout 0: behind the queue of swap I/O any device is slow and would be bypassed.
options='4 fill_memory 1048576 cache_timeout 0'
start nc "$options"
MODE=writethrough reload "$options" || fail "reload"
# The swap device is larger than all pages swapped: a page read back keeps its place for a while.
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
