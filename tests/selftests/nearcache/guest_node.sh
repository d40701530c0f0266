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
SCSI_VOLUME=iscsi/iqn.2024-01.test:volume/tpgt_1

# serve: export the remote drive to all nodes.
serve() {
	modprobe -a nvmet nvmet-tcp && remote_export "$(remote_backing)" || fail "cannot export the volume"
}

# serve_scsi MB: export a SCSI volume of this size, which has persistent reservations, to all nodes.
serve_scsi() {
	local target=/sys/kernel/config/target backing
	modprobe -a target_core_mod target_core_iblock iscsi_target_mod || fail "no SCSI target"
	# The target stores registrations.
	mkdir -p /var/target/pr
	backing=$(null_dev scsi "$1") && mkdir -p "$target/core/iblock_0/volume" "$target/$SCSI_VOLUME/np/$REMOTE_ADDRESS:3260" &&
		echo "udev_path=$backing" >"$target/core/iblock_0/volume/control" &&
		echo two-nodes >"$target/core/iblock_0/volume/wwn/vpd_unit_serial" &&
		echo 1 >"$target/core/iblock_0/volume/enable" && mkdir "$target/$SCSI_VOLUME/lun/lun_0" &&
		ln -s "$target/core/iblock_0/volume" "$target/$SCSI_VOLUME/lun/lun_0/volume" &&
		echo 0 >"$target/$SCSI_VOLUME/attrib/authentication" &&
		echo 1 >"$target/$SCSI_VOLUME/attrib/generate_node_acls" &&
		echo 1 >"$target/$SCSI_VOLUME/attrib/cache_dynamic_acls" &&
		echo 0 >"$target/$SCSI_VOLUME/attrib/demo_mode_write_protect" &&
		echo 1 >"$target/$SCSI_VOLUME/enable" || fail "cannot export a SCSI volume"
}

# scsi_volume: connect to that volume. scsi_dev: print its device. scsi_gone: remove it.
scsi_volume() {
	modprobe -a sd_mod iscsi_tcp
	iscsistart -i "iqn.2024-01.test:node$VM_NODE" -t "$(cut -d / -f 2 <<<"$SCSI_VOLUME")" -g 1 \
		-a "$REMOTE_ADDRESS" -p 3260 >/run/iscsi 2>&1 || fail "iscsistart: $(</run/iscsi)"
	wait_for 20 scsi_dev >/dev/null || fail "no SCSI volume"
}

scsi_dev() {
	local dir
	dir=$(ls -d /sys/block/sd*) && [[ -b /dev/${dir##*/} ]] && echo "/dev/${dir##*/}"
}

scsi_gone() {
	echo 1 >"$(sys_block "$(scsi_dev)")/device/delete"
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

# conf [LINE...]: write the configuration of the cluster, and these lines.
conf() {
	local n
	mkdir -p /etc/nearcache
	printf '%s\n' 'cluster = four' "extent = ${EXTENT:-1M}" "$@" >/etc/nearcache/cluster.conf
	for n in $NODES; do
		echo "node = n$n 10.88.0.$n" >>/etc/nearcache/cluster.conf
	done
}

# begins [LINE...]: load the module, connect to the volume, and make an empty cache. The lines are for
# conf.
begins() {
	conf "$@"
	modprobe -a dm-nearcache nvmet nvmet-tcp nvme-tcp
	volume >/dev/null
	empty
}

# empty [ORIGIN [OPTIONS]]: make an empty cache; an earlier one is closed.
empty() {
	! dmsetup info v-home >/dev/null 2>&1 || nearcache close v-home >/dev/null || fail "close"
	nearcache create v-home --origin "${1:-$(remote_dev)}" --cache "$(local_dev)" --block-size 64K --read-only \
		--force "${@:2}" >/dev/null || fail "create"
}

# again [LINE...]: as begins, after a reboot: the cache is warm.
again() {
	conf "$@"
	modprobe -a dm-nearcache nvmet nvmet-tcp nvme-tcp
	volume >/dev/null
	opened
}

opened() {
	nearcache open v-home --cache "$(local_dev)" --read-only --compare-at-open 0 >/dev/null || fail "open"
}

# upgraded: leave, load the module again, and join, as an upgrade of the module does. The volume stays
# connected.
upgraded() {
	leave
	nearcache close v-home >/dev/null && modprobe -r dm-nearcache || fail "the module is in use"
	[[ ! -e /sys/module/dm_nearcache ]] || fail "the module is still loaded"
	modprobe dm-nearcache && opened
}

# join [OPTIONS]: join, or connect to nodes that were absent. Nodes that are absent are no error.
join() {
	nearcache cluster join v "$@" >/dev/null 2>/run/join || fail "join: $(</run/join)"
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

# becomes N STATE...: wait until the cluster device has node N in one of these states; print the time,
# ms.
becomes() {
	local begin=${EPOCHREALTIME/./} n=$1
	shift
	in_state() {
		[[ " $* " == *" $(states | cut -c "$n") "* ]]
	}
	wait_for 60 in_state "$@" || fail "the states of the nodes are $(states)"
	echo $(((${EPOCHREALTIME/./} - begin) / 1000))
}

# refuses N TEXT: wait until join reports that node N is refused, with this text: the kernel may still
# hold an earlier connection. None is left.
refuses() {
	now_refused() {
		join
		[[ $(</run/join) == *"node 'n$1' at 10.88.0.$1:4420 is refused"*"$2"* ]]
	}
	wait_for 20 now_refused "$@" || fail "node $1 is not refused: $(</run/join)"
	! (controller "$1") >/dev/null 2>&1 || fail "a connection to node $1 is left"
	[[ $(states) =~ ^.{$(($1 - 1))}3 ]] || fail "the states of the nodes are $(states)"
}

# served_to_peers: print the bytes that were read of this node's cache. The node itself must not read.
served_to_peers() {
	origin_reads /dev/mapper/v-home
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

# samples PARTS PART SEED [FLAG]: read the samples of 128 KiB of all shards of which INDEX % PARTS is
# PART, in random order. The flag is for dd: direct.
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
		dd if="$shard" of=/dev/null bs=128k skip="$size" count=1 ${4:+iflag="$4"} 2>/dev/null || fail "read of $shard"
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

# pass: read everything, in order, and check each byte.
pass() {
	./blockdata read $V -b 256 -t 2 >/run/pass 2>&1 || fail "$(tail -n 3 /run/pass)"
}

# part I N: as pass, of the part I (from 1) of N equal parts.
part() {
	local n=$(($(blockdev --getsz $V) / 8 / $2 * 8))
	./blockdata read $V -s $((($1 - 1) * n)) -n $n -b 256 -t 2 >/run/pass 2>&1 || fail "$(tail -n 3 /run/pass)"
}

# homes: print the first home of each extent, in their order, from the table of the device.
homes() {
	local table i nodes=()
	read -ra table < <(dmsetup table v)
	for ((i = 0; i < table[8]; i++)); do
		nodes+=("${table[9 + 3 * i]}:${table[10 + 3 * i]}")
	done
	./cluster_homes -l $((table[1] / table[5])) "${nodes[@]}" | cut -d ' ' -f 1
}

# fetch LIST: read these extents of 1 MiB, "EXTENT:NODE ...", at the caches of these nodes, from all at
# the same time; print the time, ms.
fetch() {
	local begin=${EPOCHREALTIME/./} n each pids=()
	for n in $NODES; do
		[[ $1 == *":$n "* ]] || continue
		(
			dev=$(peer_device "$n")
			for each in $1; do
				[[ ${each#*:} == "$n" ]] || continue
				dd if="$dev" of=/dev/null bs=1M count=1 skip="${each%:*}" iflag=direct 2>/dev/null || exit
			done
		) &
		pids+=($!)
	done
	for n in "${pids[@]}"; do
		wait "$n" || fail "fetch"
	done
	echo $(((${EPOCHREALTIME/./} - begin) / 1000))
}

# reads_listed NODE BYTES COUNT: list random reads of this length in extents of 1 MiB whose home is the
# node, for reads_rate.
reads_listed() {
	homes | awk -v node="$1" -v bytes="$2" -v count="$3" '
		$1 == node { extent[n++] = NR - 1 }
		END {
			srand(1)
			print "fio version 2 iolog\nDEVICE add\nDEVICE open"
			for (i = 0; i < count; i++)
				print "DEVICE read", extent[int(rand() * n)] * 1048576 + int(rand() * 1048576 / bytes) * bytes, bytes
			print "DEVICE close"
		}' >/run/reads
}

# reads_rate DEVICE DEPTH: make these reads on the device, this number at the same time; print KiB/s.
reads_rate() {
	sed "s,DEVICE,$1," /run/reads >/run/reads.log
	fio --name=job --direct=1 --ioengine=libaio --thread --iodepth="$2" --read_iolog=/run/reads.log --replay_no_stall=1 \
		--output-format=terse --terse-version=3 >/run/fio || fail "fio: $(</run/fio)"
	grep '^3;' /run/fio | cut -d ';' -f 7
}

# warm: bring the part of this node from the peers; print the time, ms.
warm() {
	nearcache prefetch --help | grep -q -e --from-peers
}

warm() {
	local begin=${EPOCHREALTIME/./}
	nearcache prefetch v --from-peers --wait >/run/warm 2>&1 || fail "warm: $(</run/warm)"
	echo $(((${EPOCHREALTIME/./} - begin) / 1000))
}

# secret TEXT: keep the secret of the cluster for cluster.conf.
secret() {
	(umask 077 && echo "$1" >/etc/nearcache/secret)
}

# identity N: print names with which this node connects to node N: NQN, host NQN, host id.
identity() {
	local dir
	dir=/sys/class/nvme/$(controller "$1")
	echo "$(<"$dir/subsysnqn") $(<"$dir/hostnqn") $(<"$dir/hostid")"
}

# stranger N NQN HOST-NQN HOST-ID [OPTIONS]: connect to node N as this host; the node must refuse it.
# stranger_taken: as that, but the node must take it, so that nothing else is wrong.
stranger() {
	! stranger_connects "$@" || fail "node $1 takes the host $3"
	! (controller "$1") 2>/dev/null || fail "a connection to node $1 is left"
}

stranger_taken() {
	stranger_connects "$@" && nvme disconnect -n "$2" || fail "node $1 does not take the host $3"
}

stranger_connects() {
	nvme connect -t tcp -a "10.88.0.$1" -s 4420 -n "$2" --hostnqn "$3" --hostid "$4" "${@:5}"
}

# peer_device N: print the device at which the cache of node N is read.
peer_device() {
	local path name
	for path in "/sys/class/nvme/$(controller "$1")"/nvme*n*; do
		# The second namespace is the map of the cache.
		[[ $(<"$path/nsid") == 1 ]] || continue
		name=${path##*/}
		echo "/dev/${name/c[0-9]*n/n}"
	done
}

# cannot_write N: no kind of write changes the cache of node N.
cannot_write() {
	local dev
	dev=$(peer_device "$1")
	[[ -b $dev ]] || fail "no device of node $1"
	refused "$1" dd if=/dev/zero of="$dev" bs=4k count=1 conv=fsync
	head -c 4096 /dev/zero >/run/zeros
	refused "$1" nvme write "$dev" -s 0 -c 7 -z 4096 -d /run/zeros
	refused "$1" nvme write-zeroes "$dev" -s 0 -c 7
	drop_caches
	./blockdata read "$dev" -n 128 || fail "node $1 has other data now"
}

# refused N COMMAND...: node N must refuse this write.
refused() {
	local text
	! text=$("${@:2}" 2>&1) || fail "node $1 took the write of $2 $3"
	echo "$text"
}

# network OPTIONS of netem or tbf: of all frames that this node sends; without options, none.
network() {
	tc qdisc del dev eth0 root 2>/dev/null
	((!$#)) || { modprobe "sch_$1" && tc qdisc add dev eth0 root "$@" || fail "tc $*"; }
}

available() {
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

# squeeze MB: fill memory with files, which cannot be swapped out, until MB are available; print the
# rest. loose: free it.
squeeze() {
	local rest i
	mkdir -p /run/squeeze && mount -t tmpfs -o size=100% none /run/squeeze || fail "mount"
	for ((i = 0; ; i++)); do
		rest=$(available)
		((rest > $1 + 2)) || break
		dd if=/dev/zero of="/run/squeeze/$i" bs=1M count=$(((rest - $1) / 2 + 1)) 2>/dev/null || fail "no space"
	done
	echo "$rest"
}

loose() {
	umount /run/squeeze
}

# wrong_data: wait until the readers find wrong data; print the first line that says so.
wrong_data() {
	wait_for 60 reader_gone || { touch /run/stop; fail "the readers find nothing"; }
	grep -m 1 'in the read of' /run/reader || fail "readers: $(</run/reader)"
}

# digest_errors COUNT: wait until the kernel has found COUNT wrong digests.
digest_errors() {
	errors_seen() {
		(($(dmesg | grep -c 'data digest error') >= $1))
	}
	wait_for 60 errors_seen "$1" || fail "$(dmesg | grep -c 'data digest error') wrong digests"
}

# caches_read: print the bytes that the cache has read from the volume, for fills and past itself.
caches_read() {
	nearcache stats v-home | awk '$1 == "fill_origin_bytes" || $1 == "bypass_bytes" { sum += $2 }
		END { print sum + 0 }'
}

# why: print all that may explain the reads of the volume.
why() {
	nearcache cluster status v
	nearcache stats v-home | awk '$2 && $1 ~ /fill|bypass|evict|hits|joins/'
	dmesg | grep -E 'cluster|peers|nvme' | tail -n 20
}
