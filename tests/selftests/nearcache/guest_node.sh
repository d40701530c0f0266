# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for guests that are nodes of one cluster, and for the guest with their volume: . ./guest_node.sh
# Guest $VM_NODE is node n$VM_NODE; the volume is in guest $STORAGE. The cache is v-home, the cluster
# device v.
. ./common.sh

export NODES=${NODES:-1 2 3 4} STORAGE=100
# shellcheck disable=SC2034 # for lib.sh
REMOTE_ADDRESS=10.88.0.$STORAGE
V=/dev/mapper/v

# serve: export the remote drive to all nodes.
serve() {
	modprobe -a nvmet nvmet-tcp && remote_export "$(remote_backing)" || fail "cannot export the volume"
}

# distant MS: each answer of the volume takes so long, as it would from another building.
distant() {
	modprobe sch_netem && tc qdisc replace dev eth0 root netem limit 100000 delay "$1ms" || fail "no netem"
}

# shards COUNT MB: make a file system with shards of random data on the remote drive; print their
# sums.
shards() {
	local i
	mkfs.ext4 -q -b 4096 -O ^has_journal "$(remote_backing)" && mount "$(remote_backing)" /mnt || fail "mkfs"
	for ((i = 0; i < $1; i++)); do
		head -c $(($2 << 20)) /dev/urandom >"/mnt/shard$i" || fail "no room for the shards"
	done
	(cd /mnt && sha256sum shard*) && umount /mnt
}

# volume: connect to the volume. It stays connected whatever happens to the link.
volume() {
	local digit=$((VM_NODE % 10))
	modprobe nvme-tcp
	REMOTE_HOST_ID=${REMOTE_HOST_ID%?}$digit REMOTE_CONNECT="--keep-alive-tmo=5 --ctrl-loss-tmo=-1" remote_connect
}

# conf: write the configuration of the cluster.
conf() {
	local n
	mkdir -p /etc/nearcache
	printf '%s\n' 'cluster = four' 'extent = 1M' >/etc/nearcache/cluster.conf
	for n in $NODES; do
		echo "node = n$n 10.88.0.$n" >>/etc/nearcache/cluster.conf
	done
}

# begins: load the module, connect to the volume, and make an empty cache.
begins() {
	conf
	modprobe -a dm-nearcache nvmet nvmet-tcp nvme-tcp
	volume >/dev/null
	empty
}

# empty: make the cache anew, or for the first time.
empty() {
	! dmsetup info v-home >/dev/null 2>&1 || nearcache close v-home >/dev/null || fail "close"
	nearcache create v-home --origin "$(remote_dev)" --cache "$(local_dev)" --block-size 64K --read-only --force \
		>/dev/null || fail "create"
}

# again: as begins, after a reboot: the cache is warm.
again() {
	conf
	modprobe -a dm-nearcache nvmet nvmet-tcp nvme-tcp
	volume >/dev/null
	nearcache open v-home --cache "$(local_dev)" --read-only --sample-at-open 0 >/dev/null || fail "open"
}

# join: join, or connect to nodes that were absent. Nodes that are absent are no error.
join() {
	nearcache cluster join v >/dev/null 2>/run/join || fail "join: $(</run/join)"
}

leave() {
	nearcache cluster leave v >/dev/null
}

# states: print the states of all nodes, in their order (enum nearcache_peer_state).
states() {
	dmsetup status v | awk '{ for (i = 0; i < $5; i++) printf "%s", $(7 + i * $6) }'
}

all_up() {
	[[ $(states) == "${NODES_UP:-}" ]]
}

# await_up: join until all peers are up, SECONDS at most; print the time that it took, ms.
await_up() {
	local begin=${EPOCHREALTIME/./} NODES_UP n
	NODES_UP=$(for n in $NODES; do ((n == VM_NODE)) && printf 4 || printf 0; done)
	joined_up() {
		all_up && return
		# The device of a node that has left is gone (failed) until a join finds the new one.
		[[ $(states) != *[13]* ]] || join
		all_up
	}
	wait_for "${1:-60}" joined_up || fail "not all nodes are up: $(states), $(nearcache cluster status v 2>&1)"
	echo $(((${EPOCHREALTIME/./} - begin) / 1000))
}

# lost N: wait until the cluster device does not read at node N any more; print the time, ms.
lost() {
	local begin=${EPOCHREALTIME/./}
	peer_down() {
		[[ $(states) =~ ^.{$1}[^0] ]]
	}
	wait_for 60 peer_down $(($1 - 1)) || fail "node $1 counts as up: $(states)"
	echo $(((${EPOCHREALTIME/./} - begin) / 1000))
}

# controller N: print the name of the NVMe controller that is connected to node N.
controller() {
	local file
	for file in /sys/class/nvme/nvme*/address; do
		[[ $(<"$file") != *traddr=10.88.0.$1,* ]] || { basename "${file%/address}"; return; }
	done
	fail "no connection to node $1"
}

# disconnected N: wait until the connection to node N is lost.
disconnected() {
	local state
	state=/sys/class/nvme/$(controller "$1")/state
	connection_lost() {
		[[ $(<"$state") != live ]]
	}
	wait_for 60 connection_lost || fail "the connection to node $1 is still live"
}

# mounted DEVICE, unmounted: the shards are in /mnt.
mounted() {
	mount -t ext4 -o ro,noload "$1" /mnt
}

unmounted() {
	umount /mnt
}

# samples PARTS PART SEED: read the samples of 128 KiB of all shards of which INDEX % PARTS is PART,
# in random order.
samples() {
	local shard size at list=()
	for shard in /mnt/shard*; do
		size=$(stat -c %s "$shard")
		for ((at = 0; at < size >> 17; at++)); do
			list+=("$shard $at")
		done
	done
	RANDOM=$3
	for at in "${!list[@]}"; do
		echo "$RANDOM $at ${list[at]}"
	done | sort -n | while read -r _ at shard size; do
		((at % $1 == $2)) || continue
		dd if="$shard" of=/dev/null bs=128k skip="$size" count=1 2>/dev/null || fail "read of $shard"
	done
}

# sums: print the sums of all shards.
sums() {
	(cd /mnt && sha256sum shard*)
}

# reader_begins: verify the cluster device with readers. reader_ends: print the time of the slowest
# read, ms; fail if any data was wrong, or any read failed.
reader_begins() {
	rm -f /run/stop
	./blockdata read $V -f /run/stop -t "${1:-2}" -b 8:256 -a 8 -r 50 -S "$RANDOM" >/run/reader 2>&1 &
	echo $! >/run/reader.pid
}

reader_ends() {
	local line
	touch /run/stop
	wait_for 60 reader_gone || fail "the readers hang: $(</run/reader)"
	line=$(tail -n 1 /run/reader)
	[[ $line =~ ^reads\ [1-9][0-9]*\ .*\ eio\ 0\ .*\ longest\ ([0-9]+)$ ]] && (($(wc -l </run/reader) == 1)) ||
		fail "readers: $(</run/reader)"
	echo "${BASH_REMATCH[1]} $line"
}

reader_gone() {
	! kill -0 "$(</run/reader.pid)" 2>/dev/null
}

# caches_read: print the bytes that the cache has read from the volume, for fills and past itself.
caches_read() {
	nearcache stats v-home | awk '$1 == "fill_origin_bytes" || $1 == "bypass_bytes" { sum += $2 }
		END { print sum + 0 }'
}

# why: print all that may explain what the volume served.
why() {
	nearcache cluster status v
	nearcache stats v-home | awk '$2 && $1 ~ /fill|bypass|evict|hits|joins/'
	dmesg | grep -E 'cluster|peers|nvme' | tail -n 20
}
