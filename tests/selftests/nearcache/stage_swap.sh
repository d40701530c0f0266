#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Swap on a stage, and on a cache above it (rule O7 of stage.md): the kernel writes memory there while
# memory is short, and gets it back unchanged. The log is small, so that writes of the swap wait for the drain.
# timeout: 400
# kernels: 6.12
# cpus: 1
# when: soak
. ./stage.sh

available() {
	awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo
}

memory_back() {
	echo 0 >/proc/sys/vm/nr_hugepages
}

swap_off() {
	local swap
	for swap in $(awk '/partition/ { print $1 }' /proc/swaps); do
		swapoff "$swap"
	done
}

# swaps DEV: use 160 MiB more memory than there is, more than the log has.
swaps() {
	local before
	mkswap "$1" >/dev/null || fail "mkswap $1"
	swapon "$1" || fail "swapon $1"
	at_exit swap_off
	before=$(stage drained_bytes)
	drop_caches
	# Reserving unused huge pages is the quickest way to take memory away.
	echo $((($(available) - 80) / 2)) >/proc/sys/vm/nr_hugepages
	./memhog $(($(available) + 160)) 2 || fail "memhog on $1"
	memory_back
	(($(stage drained_bytes) - before > 64 << 20)) || fail "$1: $(stage drained_bytes) bytes drained"
	swapoff "$1" || fail "swapoff $1"
	same state "$(stage state)" 0
}

at_exit memory_back
make_dm O origin "0 $((600 * 2048)) linear $(remote_backing) 0"
make_dm L log "0 $((64 * 2048)) linear $(local_dev) 0"
make_dm C cache "0 $((64 * 2048)) linear $(local_dev) $((64 * 2048))"
./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
at_exit stage_stop
stage_start
swaps /dev/mapper/st
format "$C" /dev/mapper/st
# Behind the queue of swap any device is slow, and would be bypassed.
MODE=writearound start nc '2 cache_timeout 0' /dev/mapper/st "$C"
swaps /dev/mapper/nc
stage_drained
