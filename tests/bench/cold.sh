# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Empty caches, each with room for a given number of blocks. Included after targets.sh, which
# describes the set-up of each target.
#
# "Room" means: for nearcache, the blocks outside its reserve, so its device has as many more. The
# reserve (kmod/evict/reclaim.c) keeps up to twice the low water mark (a 64th of all blocks, at least one)
# free for fills while blocks may be evicted; with a plan the low water mark, but 32 blocks (or a
# quarter) to 128. For dm-cache, all blocks of its cache device; its metadata is on another device. For
# bcache, 95 percent of its cache device, as it stops caching above that, without eight blocks for
# its own data.
# shellcheck disable=SC2154,SC2034 # the including script sets the devices and reads the results

# Optional words of nearcache's dm table: COUNT NAME VALUE...
cache_options=''

# cold_pair ORIGIN_MB STORE_MB ATTRIBUTES ATTRIBUTES: as pair; sets $O, and $N for cache devices.
cold_pair() {
	pair "$@"
	N=$C C=''
}

# cold_pair_unstored ORIGIN_MB STORE_MB ATTRIBUTES ATTRIBUTES: as cold_pair, for nearcache only. No
# data is stored but the first STORED_MB of $N, where the metadata is; other reads return zeros. So
# the devices may be larger than the memory.
STORED_MB=64
cold_pair_unstored() {
	pair "$1" "$2" "memory_backed=0 $3" "memory_backed=0 $4"
	# shellcheck disable=SC2086 # one word each
	make_null S stored $STORED_MB $4
	make_dm N parts "0 $(sectors "$S") linear $S 0
$(sectors "$S") $(($(sectors "$C") - $(sectors "$S"))) linear $C $(sectors "$S")"
	C=''
}

# cold_gone: remove the devices of either pair.
cold_gone() {
	if [[ ${S:-} ]]; then
		dm_gone parts
		null_del stored
		S=''
	fi
	pair_gone
}

# cache_device BYTES: make $C with this size.
cache_device() {
	[[ ! ${C:-} ]] || dm_gone cachedev
	make_dm C cachedev "0 $(($1 / 512)) linear $N 0"
}

# with_reserve TARGET BLOCKS: print the number of blocks that nearcache needs for this room.
with_reserve() {
	local all=$2 low kept
	while
		low=$((all / 64))
		((low)) || low=1
		kept=$((2 * low))
		[[ $1 != nearcache-plan ]] || kept=$((low > 128 ? 128 : low > 32 ? low : all < 128 ? all / 4 : 32))
		((all - kept < $2))
	do
		all=$((all + 1))
	done
	echo "$all"
}

# cold_up TARGET BLOCKS BYTES: set up a cache with room for BLOCKS blocks of BYTES bytes. Sets
# $device, the device to read, and $slots, the blocks that it can hold when it keeps none free.
# nearcache-WORD is a variant of nearcache.
cold_up() {
	local bytes=$3 size
	slots=$2
	case $1 in
	raw-origin) device=$O ;;
	raw-cache) device=$N ;;
	nearcache*) cold_nearcache "$1" "$2" ;;
	dm-cache)
		cache_device $(($2 * bytes))
		make_null M meta 16
		zero "$M" 1
		make_dm device bench \
			"0 $(sectors "$O") cache $M $C $O $((bytes / 512)) 1 writethrough smq 2 migration_threshold 131072"
		;;
	bcache)
		slots=$(($2 * 100 / 95 + 8))
		size=$((slots * bytes))
		cache_device "$size"
		bcache_up "$(bucket_of "$size")k"
		;;
	*) fail "'$1' is no target" ;;
	esac
}

# cold_nearcache TARGET BLOCKS: the size of the metadata is known only after a start, so try sizes.
cold_nearcache() {
	local all found=0 size tries
	all=$(with_reserve "$1" "$2")
	size=$(((all + 64) * bytes))
	for ((tries = 0; tries < 5 && found != all; tries++)); do
		[[ $found == 0 ]] || dm_remove bench
		size=$((size - (found ? found - all : 0) * bytes))
		cache_device "$size"
		format "$C" "$O" $((bytes >> 10))K
		start bench "$cache_options" "$O" "$C"
		look found blocks bench
	done
	is blocks "$all" bench
	slots=$all
	device=/dev/mapper/bench
}

# bucket_of BYTES: largest bucket in KiB with 600 buckets; bcache refuses a device with 512 or
# fewer.
bucket_of() {
	local kib=512
	while (($1 / (kib << 10) < 600)); do
		kib=$((kib / 2))
	done
	echo $kib
}

cold_down() {
	case $1 in
	raw-*) ;;
	bcache) down_bcache ;;
	dm-cache) dm_remove bench; null_del meta ;;
	*) dm_remove bench ;;
	esac
	dm_gone cachedev
	C=''
}

# percent NUMBER: print NUMBER / 100.
percent() {
	awk -v n="$1" 'BEGIN { printf "%g", n / 100 }'
}

# demand TARGET: print the bytes read from the origin so far for waiting readers. dm-cache also
# reads the origin for promotions: for it print "MISSES READS"; all reads have the same size.
demand() {
	local words
	if [[ $1 == dm-cache ]]; then
		read -ra words < <(dmsetup status bench)
		echo "${words[8]} $((words[7] + words[8]))"
	else
		origin_reads "$O"
	fi
}
