# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The nodes of a cluster, all in one guest. Included after train.sh, with $O (origin), $nodes (their
# number), $replicas (1) and $target:
#
#   nearcache           node I reads "homeI", its cache, which is on "driveI", its local drive
#   nearcache-cluster   node I reads "nodeI", a cluster device. The device of peer J is "linkI-J", a
#                model of the network (link/) above "homeJ"
#   dm-switch-multipath  "nodeI" is a dm-switch with the same homes. Behind it is a dm-multipath for
#                each node: the link to it, and as the second path the local cache
#
# Each node has one port to the network, which passes its answers to all peers, and one for the
# answers of all peers to it.
# shellcheck disable=SC2154,SC2034 # the including script sets the devices and reads the results

# Port of a node, and time that the network adds to a read: both cables, the switch and the software
# of NVMe over TCP.
LINK_GBIT=25
LINK_US=50
# Sectors of an extent: two blocks. 16 MiB would be 0.4 MiB in the scale of the benchmark cluster.
EXTENT=1024

# Metadata of a cache, MiB. It is stored on a device of its own, with its own bandwidth, so that the
# first blocks behind it would make a drive faster.
METADATA_MB=16

# drive NODE MB CACHE_IS: make "driveNODE" and set $N to it. It stores only metadata, and takes no
# processor time for other data.
drive() {
	local table data
	# shellcheck disable=SC2086 # one word each
	make_null table "table$1" $METADATA_MB $3
	# shellcheck disable=SC2086 # one word each
	make_null data "data$1" "$2" $3 memory_backed=0
	make_dm N "drive$1" "0 $(sectors "$table") linear $table 0
$(sectors "$table") $(sectors "$data") linear $data 0"
}

# homes_up BLOCKS CACHE_IS: make the caches of all nodes, each with room for BLOCKS blocks. Sets
# $slots to the number of blocks that a cache can hold when it keeps none free.
homes_up() {
	local i size='' mb=$(($(with_reserve nearcache "$1") * bytes / 1048576 + 64)) all=$O O
	for ((i = 1; i <= nodes; i++)); do
		# The helper formats no cache for an origin that another cache uses.
		make_dm O "origin$i" "0 $(sectors "$all") linear $all 0"
		drive "$i" "$mb" "$2"
		if [[ ! $size ]]; then
			cold_nearcache nearcache "$1"
			size=$(sectors "$C")
			((size * 512 - slots * bytes <= METADATA_MB << 20)) ||
				fail "$((size * 512 - slots * bytes)) bytes of metadata"
			dm_remove bench
			dm_gone cachedev
		fi
		make_dm C "cache$i" "0 $size linear $N 0"
		format "$C" "$O" $((bytes >> 10))K
		start "home$i" '' "$O" "$C"
	done
}

# make_link VARIABLE NAME DEVICE FROM TO: make a link to the device between two ports.
make_link() {
	make_dm "$1" "$2" "0 $(sectors "$3") bench-link $3 $(sum "$LINK_US * 1e3 * $scale") \
$(sum "$LINK_GBIT * 1e9 / 8 / $scale") $4 $5" --readonly
}

# nodes_up: make the devices that the nodes read; reads[I] is that of node I.
nodes_up() {
	local i j link list
	for ((i = 1; i <= nodes; i++)); do
		reads[i]=/dev/mapper/home$i
		[[ $target != nearcache ]] || continue
		list=''
		for ((j = 1; j <= nodes; j++)); do
			link=-
			((j == i)) || make_link link "link$i-$j" "/dev/mapper/home$j" "$j" $((32 + i))
			list+=" n$j 1 $link"
		done
		"${target%-*}_up" "$i" "$list"
		reads[i]=/dev/mapper/node$i
	done
}

# nearcache_up NODE LIST: make the cluster device of a node.
nearcache_up() {
	local path
	make_dm path "node$1" \
		"0 $(sectors "$O") nearcache-peers /dev/mapper/home$1 /dev/mapper/origin$1 $EXTENT ${replicas:-1} n$1 $nodes$2"
	wait_for 20 all_up "$1" || fail "the peers do not come up: $(dmsetup status "node$1")"
}

# all_up NODE: are all peers of a node up?
all_up() {
	dmsetup status "node$1" | awk -v nodes="$nodes" '{
		for (i = 0; i < nodes; i++)
			if ($(7 + 6 * i) != 0 && $(7 + 6 * i) != 4) exit 1
	}'
}

# dm-switch_up NODE LIST: the same homes by dm-switch above dm-multipath.
dm-switch_up() {
	local path words j paths='' local_path="1 round-robin 0 1 1 /dev/mapper/home$1 1"
	read -ra words <<<"$2"
	for ((j = 1; j <= nodes; j++)); do
		if ((j == $1)); then
			make_dm path "path$1-$j" "0 $(sectors "$O") multipath 2 queue_mode bio 0 1 $local_path" --readonly
		else
			make_dm path "path$1-$j" "0 $(sectors "$O") multipath 2 queue_mode bio 0 2 \
1 round-robin 0 1 1 ${words[3 * j - 1]} 1 ${local_path#1 }" --readonly
		fi
		paths+=" $path 0"
	done
	make_dm path "node$1" "0 $(sectors "$O") switch $nodes $EXTENT 0$paths" --readonly
	regions | xargs -n 500 dmsetup message "node$1" 0 set_region_mappings || fail "no regions"
}

# regions: print the first home of each extent as dm-switch takes it.
regions() {
	local names=() j
	for ((j = 1; j <= nodes; j++)); do
		names+=("n$j:1")
	done
	./cluster_homes -l $((($(sectors "$O") + EXTENT - 1) / EXTENT)) "${names[@]}" |
		awk '{ printf "%x:%x\n", NR - 1, substr($1, 2) - 1 }'
}

nodes_gone() {
	local i
	# Everything was made in order, so that the cleanups remove it in the reverse order.
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
		eval "${cleanups[i]}" || fail "${cleanups[i]}"
	done
	cleanups=()
}
