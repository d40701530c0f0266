# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for the guests of the demo of a cluster: . ./node.sh. The cache of a node is data-home,
# the cluster device data.
# shellcheck source=tests/selftests/nearcache/guest_node.sh
. ./guest_node.sh

# show COMMAND...: print and run the command.
show() {
	echo "  node $VM_NODE \$ $*"
	"$@" || fail "'$*' failed"
}

# node_begins: load the modules, write the file of the cluster, connect to the volume.
node_begins() {
	conf
	modprobe -a dm-nearcache nvmet nvmet-tcp nvme-tcp
	volume >/dev/null
}

# create_alone: make a cache without a cluster. create_node: make a cache and the cluster device.
create_alone() {
	show nearcache create data --origin "$(remote_dev)" --cache "$(local_dev)" --read-only
}

create_node() {
	show nearcache create data --origin "$(remote_dev)" --cache "$(local_dev)" --read-only \
		--cluster /etc/nearcache/cluster.conf --force
}

# open_node: open the warm cache after a reboot, and join.
open_node() {
	show nearcache open data-home --cache "$(local_dev)" --read-only
	show nearcache cluster join data
}

# await_all: connect the nodes that were absent, as nearcached does, until the device reads at all.
await_all() {
	all_read() {
		nearcache cluster join data >/dev/null 2>&1
		[[ $(dmsetup status data | awk '{ for (i = 0; i < $5; i++) printf "%s", $(7 + i * $6) }') =~ ^0*40*$ ]]
	}
	wait_for 60 all_read || fail "$(nearcache cluster status data 2>&1)"
}

# read_shards: read all shards of the device, with nothing in memory; print their sums.
read_shards() {
	mount -t ext4 -o ro,noload /dev/mapper/data /mnt && drop_caches && sums && umount /mnt
}

# serves MB: wait until the peers have read MB here.
serves() {
	local begin
	begin=$(origin_reads /dev/mapper/data-home)
	served_enough() {
		(($(origin_reads /dev/mapper/data-home) - begin >= $1 << 20))
	}
	wait_for 60 served_enough "$1" || fail "the peers read nothing here"
}
