#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two nodes share a read-only remote volume, each with its own network and cache. Each node
# prefetches its share of an epoch. Together they must read the dataset once from the volume; then
# each node reads its half without the volume.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

SHARDS=32
TESTS=$PWD

unmount() {
	! grep -q " $1 " /proc/mounts || umount "$1"
}

# dataset: create shards of different lengths on $volume; sets total.
dataset() {
	local mnt=$TMPDIR/0
	mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$volume" 2>/dev/null || fail "mkfs.ext4"
	mount "$volume" "$mnt" || fail "mount"
	at_exit unmount "$mnt"
	./filedata write 65536 12288 "$mnt"/shard-{01..32}.tar || fail "cannot write the shards"
	rmdir "$mnt/lost+found"
	umount "$mnt" || fail "umount"
	total=$((SHARDS * 65536 + 12288 * SHARDS * (SHARDS - 1) / 2))
}

protected() {
	[[ $(<"/sys/block/${1#/dev/}/ro") == 1 ]]
}

# node N: connect the node; sets origin[N], opens cache nodeN and mounts it on $TMPDIR/N.
node() {
	local device
	origin[$1]=$(node_up "$1" "$volume") || fail "node $1 has no volume"
	at_exit node_down "$1"
	# Write-protect the volume on the target, so that no node can write.
	nvme set-feature "${origin[$1]}" -n 1 -f 0x84 -v 1 >/dev/null || fail "set-feature"
	wait_for 20 protected "${origin[$1]}" || fail "${origin[$1]} can be written"
	make_null device "cache$1" 16
	at_exit dm_gone "node$1"
	at_exit unmount "$TMPDIR/$1"
	good create "node$1" --origin "${origin[$1]}" --cache "$device" --block-size 64K
	mount -o ro "/dev/mapper/node$1" "$TMPDIR/$1" || fail "mount"
}

# share N WORDS...: prefetch node N's share of an epoch; waits with --wait.
share() {
	cd "$TMPDIR/$1" && nearcache prefetch "node$1" . --rank $(($1 - 1)) --world-size 2 "${@:2}" -j
}

cold() {
	run invalidate "node$1"
	[[ $rc == 0 ]] || fail "invalidate: $err"
}

# read_by N FILE...: read and check the files on node N; prints their bytes.
read_by() {
	(cd "$TMPDIR/$1" && "$TESTS/filedata" read "${@:2}") || fail "node $1 reads wrong data"
	settle "node$1"
}

# sent N: print the bytes sent to the node through its network.
sent() {
	cat "/sys/class/net/veth$1/statistics/tx_bytes"
}

# warmed WORDS...: both nodes prefetch at once and read the dataset once in total; sets half.
warmed() {
	local n pid=() network=() before
	cold 1
	cold 2
	for n in 1 2; do
		out=$(share $n "$@" --dry-run) || fail "node $n has no share"
		sed -n 's/^ *"name": "\(.*shard-.*\)".*/\1/p' <<<"$out" >"$TMPDIR/share$n"
		half[n]=$(json bytes) network[n]=$(sent $n)
	done
	same "shards of both" "$(sort -u "$TMPDIR"/share[12] | wc -l)" $SHARDS
	same "bytes of both" $((half[1] + half[2])) $total
	before=$(origin_reads "$volume")
	for n in 1 2; do
		(share $n "$@" --wait) >"$TMPDIR/said$n" 2>&1 &
		pid[n]=$!
	done
	for n in 1 2; do
		wait "${pid[n]}" || fail "node $n: $(<"$TMPDIR/said$n")"
	done
	echo "# $*: $(($(origin_reads "$volume") - before)) of $total bytes from the volume"
	same "bytes from the volume" $(($(origin_reads "$volume") - before)) $total
	for n in 1 2; do
		network[n]=$(($(sent $n) - network[n]))
		((network[n] >= half[n] && network[n] < half[n] * 5 / 4)) ||
			fail "node $n: ${half[n]} bytes, but ${network[n]} through its network"
	done
}

# read_again: each node must read its own share from its cache, and the other share from the volume.
read_again() {
	local n before list
	for n in 1 2; do
		mapfile -t list <"$TMPDIR/share$n"
		before=$(origin_reads "$volume")
		read_by $n "${list[@]}" >/dev/null
		same "bytes of node $n from the volume" $(($(origin_reads "$volume") - before)) 0
	done
	same "bytes of the other's" "$(read_by 1 "${list[@]}")" "${half[2]}"
	same "bytes of the other's from the volume" $(($(origin_reads "$volume") - before)) "${half[2]}"
}

mkdir "$TMPDIR/0" "$TMPDIR/1" "$TMPDIR/2"
make_null volume volume 16
dataset
node 1
node 2
written=$(origin_writes "$volume")
warmed --seed 7 --epoch 1
read_again
warmed --seed 7 --epoch 2 --split blocked
read_again
same "bytes written to the volume" "$(origin_writes "$volume")" "$written"
