# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for two nodes, a and b, in one kernel, without a network: . ./two_nodes.sh (includes
# cache.sh, command.sh and shards.sh). Node X has the cache X-home, and the cluster device X, which is
# mounted on $M/../X. The volume is $O, below it $FAR.
. ./cache.sh
. ./command.sh
. ./shards.sh

EXTENT=$((64 << 10))

unmount_nodes() {
	local at
	cd /
	for at in "$M" "$TMPDIR"/{a,b}; do
		! grep -q " $at " /proc/mounts || umount "$at"
	done
}

# volume_made MB: make the volume, and mount ext4 on it for writing on $M.
volume_made() {
	make_null FAR far "$1"
	make_dm O origin "0 $(sectors "$FAR") linear $FAR 0"
	mkdir "$M" "$TMPDIR"/{a,b}
	at_exit unmount_nodes
	mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$O" 2>/dev/null && mount "$O" "$M" || fail "mkfs"
}

# nodes_table NODE: print the table line of a cluster device.
nodes_table() {
	local other=b
	[[ $1 == a ]] || other=a
	echo "0 $(sectors "$O") nearcache-peers /dev/mapper/$1-home $O $((EXTENT / 512)) ${REPLICAS:-1} $1" \
		"2 $1 10 - $other 10 /dev/mapper/$other-home"
}

is_up() {
	[[ $(dmsetup status "$1") =~ nearcache-peers\ 1\ 2\ 6\ 4\ .*\ 0\ [0-9]+\ [0-9]+\ [0-9]+\ [0-9]+\ [0-9]+\ [0-9]+\ [0-9]+$ ]]
}

# nodes_up MB: unmount the volume; make both nodes with caches of this size, and mount their devices.
nodes_up() {
	local node device
	umount "$M" || fail "umount"
	at_exit rm -f /var/lib/nearcache/pins/{a,b}-home.json
	for node in a b; do
		make_null device "cache$node" "$1"
		at_exit dm_gone "$node-home"
		good create "$node-home" --origin "$O" --cache "$device" --block-size 64K --read-only
	done
	for node in a b; do
		make_dm REPLY "$node" "$(nodes_table "$node")" --uuid "nearcache-cluster-$node"
		wait_for 40 is_up "$node" || fail "$node: $(dmsetup status "$node")"
	done
	./cluster_homes -l $(($(sectors "$O") * 512 / EXTENT)) a:10 b:10 >"$TMPDIR/homes"
	at_exit unmount_nodes
	for node in a b; do
		mount -o ro,noload "/dev/mapper/$node" "$TMPDIR/$node" || fail "mount $node"
	done
}

# part_of NODE: print the parts of the ranges "START LENGTH" on standard input whose first home is
# NODE.
part_of() {
	awk -v node="$1" -v extent=$EXTENT '
		NR == FNR { home[NR - 1] = $1; next }
		{
			end = $1 + $2
			for (at = $1; at < end; at = next_) {
				e = int(at / extent)
				next_ = (e + 1) * extent < end ? (e + 1) * extent : end
				if (home[e] != node) { if (length_) print start, length_; length_ = 0; continue }
				if (!length_) start = at
				length_ += next_ - at
			}
			if (length_) print start, length_
			length_ = 0
		}' "$TMPDIR/homes" -
}

# pinned NAME: print the ranges of a cache, "START LENGTH", by start.
pinned() {
	nearcache ranges "$1" -j | awk '/"start"/ { start = $2 + 0 } /"length"/ { print start, $2 + 0 }' | sort -n
}

# bytes: print the sum of the lengths of ranges on standard input.
bytes() {
	awk '{ sum += $2 } END { print sum + 0 }'
}
