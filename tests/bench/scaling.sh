# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What a target costs where several processors use it: the load in the guests of "scaling", which makes
# the rows. Two readers or writers of 4 KiB, one in flight each:
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
# shellcheck disable=SC2154,SC2034,SC2086 # the including script sets the devices; words

targets=({hits,misses,writes}-{dm-linear,dm-cache,nearcache} plan-nearcache)
HOT_MB=32 COLD_MB=288 WRITE_MB=256
ROUNDS=${SCALING_ROUNDS:-5}

# devices CACHE_MB: make the origin and the cache device.
devices() {
	local table data fast="submit_queues=2 irqmode=0"
	if [[ ${COUNTS:-} ]]; then
		pair $((HOT_MB + COLD_MB)) "$1" completion_nsec=20000 completion_nsec=20000

		return
	fi
	make_null O origin $((HOT_MB + COLD_MB)) $fast memory_backed=0
	make_null table table 64 $fast
	make_null data data "$1" $fast memory_backed=0
	make_dm C local-dma "0 $(sectors "$table") linear $table 0
$(sectors "$table") $(($(sectors "$data") - $(sectors "$table"))) linear $data 0"
}

devices_gone() {
	if [[ ${COUNTS:-} ]]; then
		pair_gone
		return
	fi
	dm_remove local-dma
	null_del table
	null_del data
	null_del origin
	cleanups=()
}

# plan: print the order in which two readers read the blocks of the hot data, each its half.
plan() {
	local i j
	for ((i = 0; i < 200; i++)); do
		for ((j = 0; j < HOT_MB * 2; j++)); do
			echo "$((j << 18))+$((1 << 18))"
			echo "$(((HOT_MB * 2 + j) << 18))+$((1 << 18))"
		done
	done
}

# up SCENARIO TARGET: set up a target; the options of its load are in $how.
up() {
	local -A cache=(hits 2048 misses 128 writes 2048 plan 2048)
	devices "${cache[$1]}"
	MODE=read-only
	[[ $1 != writes ]] || MODE=writearound
	target_up "$2"
	case $1 in
	hits) how=(--rw=randread --size=${HOT_MB}m) ;;
	misses)
		how=(--rw=randread --size=$((HOT_MB + COLD_MB))m --random_distribution=zoned:90/10:10/90)
		[[ $2 != nearcache ]] || ./genl range-add name=bench \
			"range=start=$((HOT_MB << 20)),length=$((COLD_MB << 20)),label=once,flags=4" >/dev/null || fail "no range"
		[[ $2 == dm-linear ]] || dd if="$device" of=/dev/null bs=1M skip=$HOT_MB count=128 iflag=direct 2>/dev/null ||
			fail "cannot read $device"
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
	# A function ends where the next symbol begins. The kernel's own symbols are sorted.
	{
		grep -A 3 -E " [tT] ($plain|$locks)$" /proc/kallsyms
		grep -E " [tT] .*\[($modules)\]$" /proc/kallsyms | sort
	} | awk -v plain="^($plain)\$" -v locks="^($locks)\$" -v linear="$([[ $1 == dm-linear ]] && echo ^linear_)" '
		NF < 3 || $3 ~ /^__pfx_/ { next }
		{
			if (letter && $1 != start)
				print "f", start, $1, letter, name
			start = $1
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
				print "f", start, substr(start, 1, 13) "fff", letter, name
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

# timed SCENARIO TARGET: run the load for two seconds with one processor, then with two.
timed() {
	local fields cpus
	for cpus in 1 2; do
		echo $((cpus - 1)) >/sys/devices/system/cpu/cpu1/online
		echo "WINDOW $cpus"
		(load 2) || fail "fio: $(<"$TMPDIR/load.fio")"
		echo "END"
		IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/load.fio")
		# Fields 8 and 49: IOPS of reads and writes.
		row name "$1-$2" processors $cpus ios_per_second $((fields[7] + fields[48]))
	done
	echo 1 >/sys/devices/system/cpu/cpu1/online
}

bench() {
	local name i
	for name in "${targets[@]}"; do
		up "${name%%-*}" "${name#*-}"
		if [[ ${COUNTS:-} ]]; then
			counted "${name%%-*}" "${name#*-}"
		else
			for ((i = 0; i < ROUNDS; i++)); do
				timed "${name%%-*}" "${name#*-}"
			done
		fi
		target_down "${name#*-}"
		devices_gone
	done
}
