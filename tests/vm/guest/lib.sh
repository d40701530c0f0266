# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for shell tests in the guest: . /vm/lib.sh (bash).
#
# A function that creates a device prints only its path on stdout; everything else goes to stderr.
# There is no udev here: devtmpfs and dmsetup create and remove device nodes.
export DM_DISABLE_UDEV=1

REMOTE_NQN=nqn.2024-01.test.nearcache:remote
REMOTE_HOST_ID=8f6a0d1e-5a47-4f6b-9d1c-3c1f0f1f7a11
REMOTE_ADDRESS=127.0.0.1
REMOTE_PORT=1
# A fixed uuid, so that the origin has the same identity in each boot.
REMOTE_UUID=3d0b7a52-96a1-4c08-8f0e-51a3a2b0c9d4
REMOTE_STATE=/run/vm/remote
NVMET=/sys/kernel/config/nvmet
NULLB=/sys/kernel/config/nullb

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# skip REASON: end with kselftest's exit code for "cannot be tested here".
skip() {
	echo "SKIP: $*" >&2
	exit 4
}

# An empty pipe: a read with a timeout sleeps without starting a program.
exec {vm_nothing}<> <(:)

# nap SECONDS: pause between two polls. In a subshell: when the timeout of "read" expires before it
# begins to read (on a busy machine), bash 5.2 sets a random signal mask and misses the end of
# children afterwards.
nap() (
	read -r -t "$1" -u "$vm_nothing" || true
)

# wait_for SECONDS COMMAND...: poll until the command is true; false at the deadline. SLOW
# multiplies the seconds.
wait_for() {
	local deadline=$((${EPOCHREALTIME/./} + $1 * ${SLOW:-1} * 1000000))
	shift
	until "$@"; do
		((${EPOCHREALTIME/./} < deadline)) || return 1
		nap 0.02
	done
}

drop_caches() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

# steps_port: print the device of the port on which the host sends steps.
steps_port() {
	local name
	name=$(grep -lsx steps /sys/class/virtio-ports/*/name) || return
	name=${name%/name}
	[[ -c /dev/${name##*/} ]] && echo "/dev/${name##*/}"
}

# steps: run each line that the host sends (guests.sh) in a subshell of this shell; answer with its
# output and exit code. The line "end" ends this.
steps() {
	local line rc steps
	wait_for 20 steps_port >/dev/null || fail "no port for steps"
	exec {steps}<>"$(steps_port)"
	echo ready >&"$steps"
	while IFS= read -r line <&"$steps" && [[ $line != end ]]; do
		rc=0
		(eval "$line") >/run/vm/answer 2>&1 </dev/null || rc=$?
		sed 's/^/- /' /run/vm/answer >&"$steps"
		echo "done $rc" >&"$steps"
	done
}

# --- devices ---------------------------------------------------------------

# sys_block DEV: print the directory of DEV in sysfs.
sys_block() {
	local number
	# Find the directory by name if possible, which needs no process.
	if [[ $1 == "/dev/${1##*/}" && -e /sys/class/block/${1##*/} ]]; then
		echo "/sys/class/block/${1##*/}"
		return
	fi
	number=$(stat -L -c '%t:%T' "$1") || fail "no device '$1'"
	readlink -f "/sys/dev/block/$((16#${number%:*})):$((16#${number#*:}))"
}

# drive_by_serial SERIAL: print the device of the emulated drive, NVMe or virtio, with this serial.
drive_by_serial() {
	local file serial
	for file in /sys/block/nvme*/device/serial /sys/block/vd*/serial; do
		{ read -r serial || [[ $serial ]]; } 2>/dev/null <"$file" || continue
		file=${file#/sys/block/}
		[[ $serial != "$1" ]] || { echo "/dev/${file%%/*}"; return; }
	done
	fail "no drive with serial '$1'"
}

# local_dev: print the cache drive. remote_backing: print the drive behind the remote volume.
local_dev() {
	drive_by_serial local
}

remote_backing() {
	drive_by_serial remote
}

# stat_sum DEV FIELD: sum of a field of /sys/block/*/stat. Not every kernel counts on a multipath
# NVMe head (nvme2n1), but all count on its paths (nvme2c2n1).
stat_sum() {
	local dir name stats sum=0 path
	dir=$(sys_block "$1") || return
	name=${dir##*/}
	local dirs=("$dir")
	if [[ $name =~ ^(nvme[0-9]+)(n[0-9]+)$ ]]; then
		for path in /sys/block/"${BASH_REMATCH[1]}"c*"${BASH_REMATCH[2]}"; do
			[[ ! -e $path ]] || { [[ ${dirs[0]} != "$dir" ]] || dirs=(); dirs+=("$path"); }
		done
	fi
	for path in "${dirs[@]}"; do
		read -ra stats <"$path/stat"
		sum=$((sum + stats[$2]))
	done
	echo "$sum"
}

# origin_*: print bytes read, bytes written or requests of a device since boot.
origin_reads() {
	echo $(($(stat_sum "$1" 2) * 512))
}

origin_writes() {
	echo $(($(stat_sum "$1" 6) * 512))
}

origin_read_ios() {
	stat_sum "$1" 0
}

origin_write_ios() {
	stat_sum "$1" 4
}

# dm_create NAME TABLE [dmsetup options]: print the device's path.
dm_create() {
	local name=$1 table=$2
	shift 2
	dmsetup create --noudevsync "$@" "$name" --table "$table" >&2 && echo "/dev/mapper/$name"
}

# dm_remove NAME: remove the device; retry while another process still has it open.
dm_remove() {
	wait_for 10 dmsetup remove --noudevsync "$1" 2>/dev/null ||
		dmsetup remove --noudevsync "$1" >&2
}

# null_dev NAME SIZE_MB [ATTRIBUTE=VALUE...]: a memory-backed null_blk device.
# Sparse: memory is used for written pages only. Attributes as in configfs, e.g.
# blocksize=4096 completion_nsec=50000 mbps=200 badblocks=+8-15 (I/O error there).
null_dev() {
	local dir=$NULLB/$1 pair bad='' index
	[[ -d $NULLB ]] || modprobe null_blk nr_devices=0 || return
	mkdir "$dir" || return
	echo "$2" >"$dir/size"
	echo 1 >"$dir/memory_backed"
	shift 2
	for pair; do
		case $pair in
		badblocks=*) bad=${pair#*=} ;;
		completion_nsec=*) echo 2 >"$dir/irqmode" ;;&
		*) echo "${pair#*=}" >"$dir/${pair%%=*}" || fail "null_blk refuses '$pair'" ;;
		esac
	done
	echo 1 >"$dir/power" || return
	[[ ! $bad ]] || echo "$bad" >"$dir/badblocks" || fail "null_blk refuses badblocks '$bad'"
	# Newer kernels name the disk after the directory.
	read -r index <"$dir/index"
	for pair in "/dev/${dir##*/}" "/dev/nullb$index"; do
		[[ ! -b $pair ]] || { echo "$pair"; return; }
	done
	fail "null_blk made no device for $dir"
}

null_del() {
	echo 0 >"$NULLB/$1/power"
	rmdir "$NULLB/$1"
}

# big_sparse_dev NAME SIZE_GB [ATTRIBUTE=VALUE...]: far larger than memory; unwritten data reads as
# zeros. null_del removes it.
big_sparse_dev() {
	local name=$1 size=$(($2 * 1024))
	shift 2
	null_dev "$name" "$size" "$@"
}

# --- the remote volume -----------------------------------------------------

# remote_up [LATENCY_US] [BACKING]: export the remote drive (or BACKING) as a real NVMe/TCP target
# on the loopback, connect to it and print the origin's device. REMOTE_CONNECT adds options of 'nvme
# connect'.
remote_up() {
	local latency=${1:-0} backing=${2:-} dir
	[[ $backing ]] || backing=$(remote_backing) || return
	modprobe -a nvmet nvmet-tcp nvme-tcp || fail "no NVMe/TCP in this kernel"
	remote_export "$backing" || fail "cannot export $backing"
	remote_latency "$latency" || fail "cannot add latency"
	remote_connect
}

# remote_connect: connect to the exported volume and print its device. remote_disconnect: remove
# that device.
remote_connect() {
	# shellcheck disable=SC2086 # options, one word each
	${REMOTE_NODE:+ip netns exec "$REMOTE_NODE"} \
		nvme connect -t tcp -a "$REMOTE_ADDRESS" -s 4420 -n "$REMOTE_NQN" \
		--hostnqn="nqn.2014-08.org.nvmexpress:uuid:$REMOTE_HOST_ID" --hostid="$REMOTE_HOST_ID" \
		--reconnect-delay=1 ${REMOTE_CONNECT:-} >&2 || fail "nvme connect failed"
	wait_for 20 remote_dev >/dev/null || fail "the NVMe/TCP namespace did not appear"
	remote_dev
}

# remote_export BACKING: set up the nvmet side.
remote_export() {
	local subsystem=$NVMET/subsystems/$REMOTE_NQN port=$NVMET/ports/$REMOTE_PORT
	mkdir -p "$subsystem" "$subsystem/namespaces/1" "$port" &&
		echo 1 >"$subsystem/attr_allow_any_host" &&
		echo nearcache-remote >"$subsystem/attr_serial" &&
		echo -n "$1" >"$subsystem/namespaces/1/device_path" &&
		echo "$REMOTE_UUID" >"$subsystem/namespaces/1/device_uuid" &&
		echo 1 >"$subsystem/namespaces/1/enable" &&
		echo tcp >"$port/addr_trtype" &&
		echo ipv4 >"$port/addr_adrfam" &&
		echo "$REMOTE_ADDRESS" >"$port/addr_traddr" &&
		echo 4420 >"$port/addr_trsvcid" &&
		ln -s "$subsystem" "$port/subsystems/$REMOTE_NQN"
}

# remote_controller: print its directory in sysfs; ignores transports other than tcp.
remote_controller() {
	local dir nqn transport
	for dir in /sys/class/nvme/nvme*; do
		read -r nqn 2>/dev/null <"$dir/subsysnqn" || continue
		read -r transport <"$dir/transport"
		[[ $nqn == "$REMOTE_NQN" && $transport == tcp ]] || continue
		echo "$dir"
		return
	done
	return 1
}

# remote_dev: print the origin's block device; false if there is none.
remote_dev() {
	local controller path name
	controller=$(remote_controller) || return
	for path in "$controller"/nvme*n*; do
		name=${path##*/}
		# The multipath head (nvme2n1) is the device, its path (nvme2c2n1) is hidden.
		[[ $name =~ ^(nvme[0-9]+)(c[0-9]+)?(n[0-9]+)$ ]] || continue
		name=${BASH_REMATCH[1]}${BASH_REMATCH[3]}
		[[ -b /dev/$name && $(<"/sys/block/$name/size") -gt 0 ]] || continue
		echo "/dev/$name"
		return
	done
	return 1
}

remote_disconnect() {
	nvme disconnect -n "$REMOTE_NQN" >&2
	wait_for 20 remote_gone || fail "the NVMe/TCP device does not go away"
}

remote_down() {
	local subsystem=$NVMET/subsystems/$REMOTE_NQN
	remote_network 0 0 0
	remote_disconnect
	rm -f "$NVMET/ports/$REMOTE_PORT/subsystems/$REMOTE_NQN"
	echo 0 >"$subsystem/namespaces/1/enable"
	rmdir "$subsystem/namespaces/1" "$subsystem" "$NVMET/ports/$REMOTE_PORT"
}

remote_gone() {
	! remote_controller >/dev/null
}

# node_up N BACKING: connect another host (1 to 9) to BACKING, with its own network (namespace
# nodeN, behind vethN here); print its device of the volume. Each node uses another name for the
# volume: to one kernel, two connections to one volume are two paths of one device.
node_up() {
	modprobe veth && ip netns add "node$1" &&
		ip link add "veth$1" type veth peer name eth0 netns "node$1" &&
		ip addr add "10.77.$1.1/24" dev "veth$1" && ip link set "veth$1" up &&
		ip -n "node$1" addr add "10.77.$1.2/24" dev eth0 &&
		ip -n "node$1" link set eth0 up || fail "no network for node $1"
	node_of "$1" remote_up 0 "$2"
}

node_down() {
	node_of "$1" remote_down
	ip netns del "node$1"
	# Fails while another namespace exists.
	umount /run/netns 2>/dev/null || true
}

# node_of N COMMAND...: run the command with the node's volume as the remote volume.
node_of() {
	local REMOTE_NODE=node$1 REMOTE_ADDRESS=10.77.$1.1 REMOTE_PORT=$((10 + $1)) \
		REMOTE_NQN=$REMOTE_NQN-$1 REMOTE_UUID=${REMOTE_UUID%?}$1 \
		REMOTE_HOST_ID=${REMOTE_HOST_ID%?}$1
	"${@:2}"
}

# The network between host and remote volume is the loopback with a netem queue, which is precise to
# microseconds on every kernel (dm-delay on 6.1 waits in timer ticks of 4 ms).

# remote_latency US: added to each round trip.
remote_latency() {
	remote_network "$1" '' ''
}

# remote_bandwidth MBPS: limit in 10^6 bytes per second; 0 lifts it.
remote_bandwidth() {
	remote_network '' "$1" ''
}

# remote_cut: drop all packets. remote_heal: pass them again.
remote_cut() {
	remote_network '' '' 100
}

remote_heal() {
	remote_network '' '' 0
}

# remote_network LATENCY_US MBPS LOSS_PERCENT: set the network; an empty value keeps the current
# one.
remote_network() {
	local latency=0 mbps=0 loss=0 netem=()
	[[ ! -e $REMOTE_STATE ]] || read -r latency mbps loss <"$REMOTE_STATE"
	latency=${1:-$latency} mbps=${2:-$mbps} loss=${3:-$loss}
	echo "$latency $mbps $loss" >"$REMOTE_STATE"
	# Each direction passes the queue once, so each gets half of the latency.
	((!latency)) || netem+=(delay "$((latency / 2))us")
	((!mbps)) || netem+=(rate "$((mbps * 8))mbit")
	((!loss)) || netem+=(loss "$loss%")
	if ((${#netem[@]})); then
		tc qdisc replace dev lo root netem limit 1000000 "${netem[@]}" >&2
	elif [[ $(tc qdisc show dev lo) == *netem* ]]; then
		tc qdisc del dev lo root >&2
	fi
}
