# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Caches that begin empty, each with room for so many blocks of a dataset. Included behind
# targets.sh, which says how each is set up.
#
# What "room" is: of nearcache, the blocks outside its reserves (kmod/evict/reclaim.c: up to twice the low
# water mark, a 64th of all blocks and at least one, is kept free for fills when something may go;
# with a plan, as many as the low water mark, and at least 32, or a quarter); so its device has that many more. Of dm-cache, all blocks of its cache device; its metadata is on
# another one. Of bcache, 95 percent of its cache device, as it caches no more when so much is in
# use, and eight blocks beside, for what is its own.
# shellcheck disable=SC2154,SC2034 # devices are set by who includes this, and read by him

# cold_pair ORIGIN_MB STORE_MB ATTRIBUTES ATTRIBUTES: $O, and $N, on which cache devices are made, as
# pair has them.
cold_pair() {
	pair "$@"
	N=$C C=''
}

# cache_device BYTES: $C, so large.
cache_device() {
	[[ ! ${C:-} ]] || dm_gone cachedev
	make_dm C cachedev "0 $(($1 / 512)) linear $N 0"
}

# with_reserve TARGET BLOCKS: how many blocks nearcache needs for that.
with_reserve() {
	local all=$2 low kept
	while
		low=$((all / 64))
		((low)) || low=1
		kept=$((2 * low))
		[[ $1 != nearcache-plan ]] || kept=$((low > 32 ? low : all < 128 ? all / 4 : 32))
		((all - kept < $2))
	do
		all=$((all + 1))
	done
	echo "$all"
}

# cold_up TARGET BLOCKS BYTES: a cache with room for so many blocks of so many bytes; the device to
# be read is put into $device, and into $slots, how many blocks it can hold when it keeps none free.
# nearcache-WORD is nearcache, too.
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

# cold_nearcache TARGET BLOCKS: so many as are wanted: what it needs beside them is seen when it is there.
cold_nearcache() {
	local all found=0 size tries
	all=$(with_reserve "$1" "$2")
	size=$(((all + 64) * bytes))
	for ((tries = 0; tries < 5 && found != all; tries++)); do
		[[ $found == 0 ]] || dm_remove bench
		size=$((size - (found ? found - all : 0) * bytes))
		cache_device "$size"
		format "$C" "$O" $((bytes >> 10))K
		start bench '' "$O" "$C"
		look found blocks bench
	done
	is blocks "$all" bench
	slots=$all
	device=/dev/mapper/bench
}

# bucket_of BYTES: in KiB, the largest of which there are 600: bcache refuses a device of 512 or less.
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

# percent NUMBER: as a part of one.
percent() {
	awk -v n="$1" 'BEGIN { printf "%g", n / 100 }'
}

# demand TARGET: bytes that were read from the origin so far because somebody waited for them. For
# dm-cache, which reads there for itself, too: "MISSES READS", of all that were as long as each
# other.
demand() {
	local words
	if [[ $1 == dm-cache ]]; then
		read -ra words < <(dmsetup status bench)
		echo "${words[8]} $((words[7] + words[8]))"
	else
		origin_reads "$O"
	fi
}
