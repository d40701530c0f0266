#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache classifier: the built-in program must classify the streams of a device. A user's program
# may control caching. No program may cause wrong data.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

NC=/dev/mapper/nc
PINS=/sys/fs/bpf/nearcache/classifier
MB=$((1 << 20))

bad_input() {
	bad 1 "'x': 'classifier' takes load, unload or show" classifier x
	bad 1 "'classifier' needs load|unload|show" classifier
	bad 1 "'classifier show' does not take 'x'" classifier show x
	umount /sys/fs/bpf || fail "the BPF file system is in use"
	bad 4 "there is no BPF file system at '/sys/fs/bpf'" classifier show
	mount -t bpf bpf /sys/fs/bpf || fail "no BPF file system"
	bad 4 "no classifier program is loaded" classifier unload
	good classifier show -j
	expect state none
	bad 4 "cannot read '/none'" classifier load /none
	echo no >"$TMPDIR/text"
	bad 4 "cannot read '$TMPDIR/text'" classifier load "$TMPDIR/text"
	bad 4 "has no program in SEC(\"raw_tp.w/nearcache_classify\"), but one in 'raw_tp.w/nearcache_access'" \
		classifier load elsewhere.bpf.o
	bad 4 "reads fields that the module does not have" classifier load beyond.bpf.o
	[[ ! -e $PINS ]] || fail "left behind: $(ls $PINS)"
	good classifier load --dry-run -j
	expect state none dry_run true
	[[ ! -e $PINS ]] || fail "a dry run left $(ls $PINS)"
}

# gone: wait until the program is gone; the kernel frees it some grace periods after its last link.
gone() {
	local i
	for ((i = 0; i < 1000; i++)); do
		bpftool prog show name nc_classify 2>/dev/null | grep -q . || return 0
	done
	fail "the program stays: $(bpftool prog show)"
}

# Load the program, inspect it with bpftool, and unload it.
shown() {
	good classifier load -j
	json_keys schema state program program_id age_s folder
	expect state loaded program nc_classify folder $PINS
	bad 5 "'nc_classify' (program $(json program_id)) is loaded already" classifier load
	bpftool prog show name nc_classify | grep -q raw_tracepoint_writable || fail "bpftool: $(bpftool prog show)"
	bpftool link show pinned $PINS/link | grep -q "tp 'nearcache_classify'" || fail "bpftool: $(bpftool link show)"
	check -n 2048 -b 128 >/dev/null
	bpftool map dump pinned $PINS/streams >"$TMPDIR/dump"
	for word in '"pid":' '"accesses":' '"follows":' '"class":'; do
		grep -q "$word" "$TMPDIR/dump" || fail "no $word: $(<"$TMPDIR/dump")"
	done
	good classifier show -j
	[[ $out != *'"pid"'* ]] || fail "streams of processes that have ended: $out"
	good classifier show -j --all
	json_keys schema state program program_id age_s folder maps pin streams pid access class accesses runs bytes \
		changes device major minor start label_id cgroup
	expect device nc
	[[ $out == *'"pin": "changes"'*'"pin": "sets"'*'"pin": "streams"'*'"pin": "units"'* ]] || fail "maps: $out"
	# A process that runs: this shell.
	LC_ALL=C read -r -N 262144 _ <"$NC"
	good classifier show
	[[ $out == *PID*CLASS*DEVICE*PART*"$$"*read*nc*'from 0 B'* ]] || fail "streams: $out"
	good classifier show --all
	[[ $out == *sequential* ]] || fail "streams: $out"
	! rmmod dm-nearcache 2>/dev/null || fail "the module goes, with a program on it"
	good classifier unload --dry-run
	good classifier unload -j
	expect state none
	[[ ! -e $PINS ]] || fail "left behind: $(ls $PINS)"
	gone
	# A folder that an interrupted load left must not prevent a load.
	mkdir $PINS
	good classifier load
	good classifier unload
}

# classes: print the classes of all streams as "access class,...".
classes() {
	good classifier show -j --all
	sed -nE 's/^ *"(access|class)": "(.*)",$/\2/p' <<<"$out" | paste -sd' \n' | sort | paste -sd,
}

# job OPTIONS...: run fio on the device.
job() {
	fio --name=job --filename=$NC --direct=1 --ioengine=psync --thread --output="$TMPDIR/fio" "$@" ||
		fail "fio $*: $(<"$TMPDIR/fio")"
}

# told CLASSES COMMAND...: fail unless the streams of the command get these classes, cold and warm.
told() {
	local classes=$1 i
	shift
	for i in cold warm; do
		good classifier load
		"$@"
		same "$* ($i)" "$(classes)" "$classes"
		good classifier unload
		settle
	done
}

# again: read a set, then a quarter of it in the same order from another process. Within one process
# fio uses another order for each job.
again() {
	job --rw=randread --bs=16k --size=8m --randseed=1
	job --rw=randread --bs=16k --size=8m --randseed=1 --io_size=2m
}

# twice FIRST SECOND SIZE [OPTION]: read a set, then a further quarter of a pass, in one process.
twice() {
	cat >"$TMPDIR/job" <<-END
		[global]
		filename=$NC
		direct=1
		ioengine=psync
		thread
		rw=randread
		bs=16k
		size=8m
		$4
		[first]
		randseed=$1
		[second]
		stonewall
		randseed=$2
		io_size=$3
	END
	fio "$TMPDIR/job" --output="$TMPDIR/fio" || fail "fio: $(<"$TMPDIR/fio")"
}

classified() {
	# 256 accesses in each job.
	told "read sequential" job --rw=read --bs=64k --size=16m
	told "read strided" job --rw=read:240k --bs=16k --size=64m
	told "read scattered" job --rw=randread --bs=16k --size=12m --io_size=4m
	dmsetup message nc 0 invalidate all || fail "invalidate"
	told "read shuffled" twice 1 2 2m
	dmsetup message nc 0 invalidate all || fail "invalidate"
	told "read looping,read scattered" again
	dmsetup message nc 0 invalidate all || fail "invalidate"
	told "read random" twice 1 2 2m norandommap
}

written() {
	good set nc mode=writethrough
	told "write checkpoint" job --rw=write --bs=256k --size=8m
	told "write scattered" job --rw=randwrite --bs=16k --size=8m
	# Restore blockdata's sectors, which fio has overwritten.
	./blockdata write "$NC"
	good set nc mode=read-only
}

# The example policy must keep a long sequential run out of the cache, except where it is pinned.
example() {
	local before cached
	dmsetup message nc 0 invalidate all || fail "invalidate"
	good classifier load no_scans.bpf.o
	good classifier show -j
	expect program no_scans
	check -s 0 -n 8192 -b 128 >/dev/null
	is bypass_advice 0
	dmsetup message nc 0 invalidate all || fail "invalidate"
	before=$(field miss_bytes)
	good pin nc "$((90 * MB))-$((91 * MB))" --no-load
	check -b 2048 >/dev/null
	settle
	cached=$(($(field miss_bytes) - before))
	((cached < 67 * MB)) || fail "cached of the scan: $cached"
	# Of 96 MiB the first 64 are cached, and 1 MiB is pinned; the counter counts blocks.
	(($(field bypass_advice) > 31 * 16 - 32 && $(field bypass_advice) <= 32 * 16)) || fail "not cached: $(field bypass_advice)"
	run residency nc "$((90 * MB))-$((91 * MB))" -j
	expect cached_bytes $MB
	good unpin nc --all
	bpftool map dump pinned $PINS/scans | grep -q '"value": 1' || fail "scans: $(bpftool map dump pinned $PINS/scans)"
	good classifier unload
}

# When the classifier refuses a write, only its pinned part may be cached, wherever that begins.
refused() {
	good set nc mode=writethrough
	dmsetup message nc 0 invalidate all || fail "invalidate"
	good pin nc "$((MB + 192 * 1024))-$((MB + 320 * 1024))" --no-load
	check -s 2048 -n 1024 >/dev/null
	settle
	run residency nc "$MB-$((MB + 512 * 1024))" -j
	expect cached_bytes $((512 << 10))
	good classifier load refuse.bpf.o
	./blockdata write "$NC" -s 2048 -n 1024 -b 1024
	settle
	run residency nc "$MB-$((MB + 512 * 1024))" -j
	expect cached_bytes $((128 << 10))
	run residency nc "$((MB + 192 * 1024))-$((MB + 320 * 1024))" -j
	expect cached_bytes $((128 << 10))
	good classifier unload
	good unpin nc --all
	good set nc mode=read-only
}

# A hostile program may slow down reads but must not corrupt data, and may be unloaded at any time.
hostile() {
	local i
	good set nc mode=writethrough
	others 0
	good classifier load hostile.bpf.o
	verify_begin -b 1:256 -a 1 -r 400 -t 2
	for ((i = 0; i < $(times 4); i++)); do
		good classifier unload
		good classifier load "$( ((i % 2)) && echo no_scans.bpf.o || echo hostile.bpf.o)"
	done
	verify_end >/dev/null
	others 1
	check -b 128
	job --rw=randwrite --bs=4k --size=4m --verify=crc32c --do_verify=1
	good classifier unload
}

make_null O origin 96
make_null C local 48
at_exit others 1
at_exit dm_gone nc
at_exit run classifier unload
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K
bad_input
shown
classified
example
written
refused
hostile
