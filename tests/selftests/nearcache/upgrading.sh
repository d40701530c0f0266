# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions to upgrade the module under load: . ./upgrading.sh, after cache.sh and command.sh.
# "nc" is read-only and mounted on $TMPDIR/nc, "wr" is in mode writearound and mounted on $TMPDIR/wr.
# shellcheck disable=SC2154 # $out

# upgrade_devices [KIND MB]: make both devices, with file systems of a kind, and of MB MiB, that have
# a file "data". With $DELAY in ns, the origins have that latency and the cache devices 0.4 of it.
upgrade_devices() {
	local name
	make_null state state 64
	mkfs.ext4 -qF "$state" && mount "$state" /var/lib/nearcache || fail "no /var/lib/nearcache"
	at_exit umount /var/lib/nearcache
	echo '{ "schema": 1, "gaps": [] }' >/var/lib/nearcache/gaps.json
	for name in nc wr; do
		make_null "O_$name" "o$name" "${2:-64}" ${DELAY:+irqmode=2 completion_nsec="$DELAY"}
		make_null "C_$name" "c$name" 48 ${DELAY:+irqmode=2 completion_nsec="$((DELAY * 4 / 10))"}
		mkdir "$TMPDIR/$name"
		at_exit dm_gone $name
	done
	at_exit upgrade_unmount
	for name in nc wr; do
		local -n origin=O_$name
		"mkfs.${1:-ext4}" -q "$origin" && mount "$origin" "$TMPDIR/$name" || fail "mkfs"
		head -c 8m /dev/urandom >"$TMPDIR/$name/data" || fail "no data"
		umount "$TMPDIR/$name"
	done
	good create nc --origin "$O_nc" --cache "$C_nc" --block-size 64K
	good create wr --origin "$O_wr" --cache "$C_wr" --block-size 64K --mode writearound
	mount -o ro /dev/mapper/nc "$TMPDIR/nc" && mount /dev/mapper/wr "$TMPDIR/wr" || fail "mount"
	good prefetch nc "$TMPDIR/nc/data" --wait
}

upgrade_unmount() {
	fsfreeze_off
	grep -q " $TMPDIR/nc " /proc/mounts && umount "$TMPDIR/nc"
	grep -q " $TMPDIR/wr " /proc/mounts && umount "$TMPDIR/wr"
	true
}

# fsfreeze_off: no file system stays frozen, whatever a test did.
fsfreeze_off() {
	[[ ! -e /run/nearcache/upgrade ]] || nearcache upgrade >/dev/null 2>&1 || true
}

# load_begin: read "nc" and write "wr" in a loop. Checksums verify both; fio measures the latency. With
# $SUMS=0, fio alone reads "nc", and leaves the processor to others while it waits.
load_begin() {
	local sum
	sum=$(md5sum <"$TMPDIR/nc/data")
	while [[ ${SUMS:-1} == 0 ]] && sleep 1 ||
		dd if="$TMPDIR/nc/data" bs=64k iflag=direct 2>/dev/null | md5sum | grep -qF "$sum"; do :; done &
	summer=$!
	fio --name=nc --filename="$TMPDIR/nc/data" --rw=randread --bs=16k --direct=1 --ioengine=psync --thread \
		--time_based --runtime=600 --readonly --output-format=json --output="$TMPDIR/nc.json" &
	reader=$!
	fio --name=wr --directory="$TMPDIR/wr" --rw=randwrite --bs=4k --size=4m --io_size=2m --ioengine=psync \
		--thread --verify=crc32c --verify_fatal=1 --fsync=64 --loops=1000000 --invalidate=1 \
		--output-format=json --output="$TMPDIR/wr.json" &
	writer=$!
	at_exit load_kill
	wait_for 20 busy nc && wait_for 20 busy wr || fail "no load"
}

# load_kill: end what of the load still runs.
load_kill() {
	kill -9 $summer $reader $writer 2>/dev/null || true
}

# busy NAME: did the device complete I/O since it was made?
busy() {
	(($(awk '{ print $1 + $5 }' "/sys/dev/block/$(number "/dev/mapper/$1")/stat") > 50))
}

# load_end: stop the load. It must have seen no error. Print the longest stalls of both; in us they
# are in $stalls.
load_end() {
	local name
	declare -gA stalls
	kill -0 $summer 2>/dev/null || fail "a read returned wrong data"
	kill $summer
	kill -INT $reader $writer
	wait $reader || [[ $? == 128 ]] || fail "the reader: $(<"$TMPDIR/nc.json")"
	wait $writer || [[ $? == 128 ]] || fail "the writer: $(<"$TMPDIR/wr.json")"
	for name in nc wr; do
		grep -q '"error" : 0' "$TMPDIR/$name.json" || fail "$name: $(<"$TMPDIR/$name.json")"
		stalls[$name]=$(($(sed -nE 's/^ *"max" : ([0-9]+),.*/\1/p' "$TMPDIR/$name.json" | sort -n | tail -1) / 1000))
		echo "longest stall of $name: ${stalls[$name]} us"
	done
	echo "writers waited, ms:$frozen"
}

# swapped: upgrade to the same module; another instance must be loaded afterwards.
swapped() {
	local before
	before=$(stat -c %i /sys/module/dm_nearcache)
	good upgrade --module "$MODULE" -j
	json_keys schema state module version source version_before source_before devices name dry_run
	expect state changed
	[[ $(stat -c %i /sys/module/dm_nearcache) != "$before" ]] || fail "the module is the same one"
	[[ ! -e /run/nearcache/upgrade ]] || fail "the record stays"
	is state 0 nc
	is state 0 wr
	frozen+=" $(sed -n 's/.*"frozen_ms": //p' <<<"$out" | tr -d , | sort -n | tail -1)"
}

# state_of: print what must be the same after an upgrade.
state_of() {
	dmsetup table
	for name in nc wr pl; do
		nearcache ranges $name -j | grep -v expires_s
		nearcache get $name -j
		blockdev --getra /dev/mapper/$name
	done
	nearcache classifier show -j | grep -E '"(state|program|program_id)"'
	nearcache jobs nc | grep -c 'slow.*running'
	nearcache jobs nc -j | grep -A9 '"label": "slow"' | grep -E '"(priority|bandwidth[a-z_]*)"'
	nearcache plan pl -j | grep -E '"(state|no_prefetch)"'
}

# same_state: fail unless state_of prints the text of $before.
same_state() {
	diff <(echo "$before") <(state_of) >"$TMPDIR/diff" || fail "differs: $(<"$TMPDIR/diff")"
}

# swapped_with_programs: the same with BPF programs. Their detach and attach change code under readers,
# which the emulator does not survive with several processors.
swapped_with_programs() {
	local before
	others 0
	good classifier load
	before=$(state_of)
	swapped
	same_state
	good classifier unload
	others 1
}

# read_pl FROM COUNT: read MiB of the device with the plan.
read_pl() {
	dd if=/dev/mapper/pl of=/dev/null bs=64K iflag=direct skip=$(($1 * 16)) count=$(($2 * 16)) 2>/dev/null || fail "read"
}

# upgrade_under_load SWAPS KIND MB: upgrade so often, with file systems of this kind and size.
upgrade_under_load() {
	local before i
	upgrade_devices "${@:2}"
	make_null O opl 16
	make_null C cpl 24
	at_exit dm_gone pl
	good create pl --origin "$O" --cache "$C" --block-size 64K
	good pin nc "$TMPDIR/nc/data" --priority 7
	good pin nc 40M-41M --no-load --bypass --label out --expires 1h
	good set nc verify=1000 read_ahead=1M
	good set wr cache_timeout=5000 fill_memory=32M
	good prefetch nc 30M-34M --bandwidth 64K --priority 3 --label slow
	good plan pl 0-4M 2M-6M --no-prefetch
	read_pl 0 4
	before=$(state_of)
	load_begin
	for ((i = 0; i < $1; i++)); do
		if ((i % 10)); then
			swapped
		else
			swapped_with_programs
		fi
		above hits 0
		is miss_bytes 0
	done
	load_end
	same_state
	# What the plan had yet to read is the rest of it, in order.
	read_pl 2 4
	plan_is_over() {
		good plan pl -j
		[[ $(json state) == over ]]
	}
	wait_for 20 plan_is_over || fail "not over: $out"
	expect visits 64 astray 0 skipped 0
	umount "$TMPDIR/wr"
	if [[ $2 == xfs ]]; then
		xfs_repair -n /dev/mapper/wr >"$TMPDIR/fsck" 2>&1 || fail "damaged: $(<"$TMPDIR/fsck")"
	else
		e2fsck -fn /dev/mapper/wr >"$TMPDIR/fsck" 2>&1 || fail "damaged: $(<"$TMPDIR/fsck")"
	fi
	# The origin has all that was written. Pages of its own node may be older: drop them first.
	blockdev --flushbufs "$O_wr"
	./blockdata same /dev/mapper/wr -f "$O_wr" || fail "cache and origin differ"
}
