# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The load in the guests of "scaling", which makes the rows: two processors use one
# target. Two readers or writers of 4 KiB, one in flight each:
#   hits		reads of 32 MiB of cached data
#   misses	one of ten reads is of data that is not cached, and evicts other data
#   writes	random writes; nearcache in mode writearound, a tenth of the data is cached
#   plan		hits while a plan is in force, which the readers follow (nearcache)
# With COUNTS=1 the emulator's plugin (sharing.c) counts for some time in each load, in virtual time on
# devices of 20 us: the guest has two processors, and they take turns after each request. Otherwise
# the loads run on devices that take no time and transfer no data, with one processor and with two.
#   rows: scenario, target, shared_stores_per_io (stores to cache lines that the other processor
#	holds), locks_per_io (acquisitions), hottest_lock_per_io (acquisitions of one lock, of that
#	which is taken most), two_cpu_ratio (throughput with two processors divided by that with one)
# virtual time only: the plugin belongs to the emulator
# shellcheck disable=SC2154,SC2034,SC2086,SC2206 # the including script sets the devices; words

targets=({hits,misses,writes}-{dm-linear,dm-cache,nearcache} plan-nearcache)
HOT_MB=32 CACHE_MB=4096 COLD_MB=8192 WRITE_MB=256
ROUNDS=${SCALING_ROUNDS:-40}

# devices CACHE_MB: make the origin and the cache device. They store nothing but the metadata.
devices() {
	local table data speed="submit_queues=2 irqmode=0"
	[[ ! ${COUNTS:-} ]] || speed=completion_nsec=20000
	make_null O origin $((HOT_MB + COLD_MB)) $speed memory_backed=0
	make_null table table 64 $speed
	make_null data data "$1" $speed memory_backed=0
	make_dm C local-dma "0 $(sectors "$table") linear $table 0
$(sectors "$table") $(($(sectors "$data") - $(sectors "$table"))) linear $data 0"
}

devices_gone() {
	dm_remove local-dma
	null_del table
	null_del data
	null_del origin
	cleanups=()
}

# plan: print the order in which two readers read the blocks of the hot data, each its half: more often than
# they do it while it is measured.
plan() {
	awk -v half=$((HOT_MB * 2)) 'BEGIN {
		for (i = 0; i < 1500; i++)
			for (j = 0; j < half; j++)
				print j * 262144 "+262144\n" (half + j) * 262144 "+262144"
	}'
}

# up SCENARIO TARGET: set up a target; the options of its load are in $how.
up() {
	MODE=read-only
	[[ $1 != writes ]] || MODE=writearound
	devices $CACHE_MB
	target_up "$2"
	case $1 in
	hits) how=(--rw=randread --size=${HOT_MB}m) ;;
	misses)
		how=(--rw=randread --size=$((100 * HOT_MB))m --random_distribution=zoned:90/1:10/99)
		full "$2"
		# What dm-linear reads does not matter.
		[[ $2 != dm-linear ]] || how=(--rw=randread --size=${HOT_MB}m)
		;;
	writes) how=(--rw=randwrite --size=${WRITE_MB}m) ;;
	plan)
		plan >"$TMPDIR/plan"
		nearcache plan bench --from "$TMPDIR/plan" >/dev/null || fail "no plan"
		how=(--rw=read --offset_increment=$((HOT_MB / 2))m --size=$((HOT_MB / 2))m)
		;;
	esac
	quiet
}

# full TARGET: fill the cache, by a read of 4 KiB in each block, with data that reads evict. 4: evict after
# use, which nearcache does once the clock has advanced, by a 16th of the cache.
full() {
	local i
	[[ $1 != dm-linear ]] || return 0
	[[ $1 != nearcache ]] || ./genl range-add name=bench \
		"range=start=$((HOT_MB << 20)),length=$((COLD_MB << 20)),label=once,flags=4" >/dev/null || fail "no range"
	fio --name=fill --filename="$device" --direct=1 --ioengine=libaio --iodepth=16 --thread --rw=read \
		--bs=4k --offset=$((100 * HOT_MB))m --size=${CACHE_MB}m --io_size=$((CACHE_MB / 64))m --zonemode=strided --zonesize=4k --zoneskip=252k \
		--output="$TMPDIR/fill" || fail "fio: $(<"$TMPDIR/fill")"
	for ((i = 0; i <= CACHE_MB / 16 / HOT_MB; i++)); do
		fill
	done
}

# load SECONDS [fio options]: replace this shell by the load.
load() {
	exec fio --name=load --filename="$device" --direct=1 --ioengine=psync --bs=4k --numjobs=2 --thread --randseed=5 \
		--norandommap --group_reporting --time_based --runtime="$1" \
		"${how[@]}" "${@:2}" --output-format=terse --terse-version=3 --output="$TMPDIR/load.fio"
}

# functions TARGET: print the functions of the kernel that the plugin must know, as it reads them.
functions() {
	local modules plain='submit_bio|submit_bio_noacct|submit_bio_noacct_nocheck|bio_endio'
	local locks='_raw_(spin|read|write)_(try)?lock(_irq|_bh|_irqsave)?|mutex_(try)?lock|down_(read|write)(_trylock)?'
	case $1 in
	dm-linear) modules='dm_mod' ;;
	dm-cache) modules='dm_cache|dm_cache_smq|dm_bio_prison|dm_persistent_data|dm_bufio' ;;
	nearcache) modules=dm_nearcache ;;
	esac
	echo 0 >/proc/sys/kernel/kptr_restrict
	# A function ends where the next symbol begins, the last one of a module with its page. The
	# kernel's own symbols are sorted.
	{
		grep -A 3 -E " [tT] ($plain|$locks)$" /proc/kallsyms
		grep -E " [tT] .*\[($modules)\]$" /proc/kallsyms | sort
	} | awk -v plain="^($plain)\$" -v locks="^($locks)\$" -v linear="$([[ $1 == dm-linear ]] && echo ^linear_)" '
		function page(at) { return substr(at, 1, 13) "fff" }
		NF < 3 || $3 ~ /^__pfx_/ { next }
		{
			if (letter && $1 != start)
				print "f", start, $4 == module ? $1 : page(start), letter, name
			start = $1
			module = $4
			name = $3
			letter = ""
			if (NF == 4 && name ~ linear)
				letter = name ~ /^(nearcache|linear|cache)_map$/ ? "i" :
					name ~ /^(nc_miss_read|send_bypass|send_span_bypass.*)$/ ? "m" : "t"
			else if (NF == 3 && name ~ plain)
				letter = "o"
			else if (NF == 3 && name ~ locks)
				letter = "l"
		}
		END {
			if (letter)
				print "f", start, page(start), letter, name
		}'
}

# ios: print the number of reads and writes of the target.
ios() {
	awk '{ print $1 + $5 }' "$(sys_block "$device")/stat"
}

more_ios() {
	(($(ios) > $1))
}

# counted SCENARIO TARGET: have the plugin count.
counted() {
	{ functions "$2"; echo begin; } >"$TMPDIR/functions"
	load 3600 --cpus_allowed=0,1 --cpus_allowed_policy=split &
	background_pids=($!)
	wait_for 20 more_ios $(($(ios) + 500)) || fail "no load"
	tool sharing_send <"$TMPDIR/functions"
	wait_for 20 more_ios $(($(ios) + 4000)) || fail "no load"
	echo "end $1-$2" | tool sharing_send
	background_end
	[[ $2 != nearcache ]] || dmsetup status bench
}

# tool NAME: run a program of the benchmarks.
tool() {
	"$here/tools/$1" "${@:2}"
}

# count_now FILE: set $now to the time in microseconds, and $count to the number of reads and writes in
# the statistics FILE of a device. It starts no process, which would take time from the load.
count_now() {
	local reads writes
	read -r reads _ _ _ writes _ <"$1"
	now=${EPOCHREALTIME/./} count=$((reads + writes))
}

# timed SCENARIO TARGET: measure the load with one processor, two, two and one, for a quarter of a second
# each; that is a round. The speed of a machine that shares its processors with others changes within
# seconds, and less within a round.
timed() {
	local round cpus now count before since stat idle
	stat=$(sys_block "$device")/stat
	exec {idle}<> <(:)
	load 3600 &
	background_pids=($!)
	wait_for 20 more_ios $(($(ios) + 500)) || fail "no load"
	for ((round = 0; round < ROUNDS; round++)); do
		for cpus in 1 2 2 1; do
			echo $((cpus - 1)) >/sys/devices/system/cpu/cpu1/online
			# The scheduler moves the threads.
			! read -r -t 0.05 -u "$idle" || true
			echo "WINDOW $cpus"
			count_now "$stat"
			before=$count since=$now
			! read -r -t 0.25 -u "$idle" || true
			count_now "$stat"
			echo "END"
			row name "$1-$2" processors $cpus ios_per_second $(((count - before) * 1000000 / (now - since)))
		done
	done
	echo 1 >/sys/devices/system/cpu/cpu1/online
	background_end
	exec {idle}>&-
}

bench() {
	local name
	for name in "${targets[@]}"; do
		up "${name%%-*}" "${name#*-}"
		if [[ ${COUNTS:-} ]]; then
			counted "${name%%-*}" "${name#*-}"
		else
			timed "${name%%-*}" "${name#*-}"
		fi
		target_down "${name#*-}"
		devices_gone
	done
}
