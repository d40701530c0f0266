#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The nearcache command: each verb must succeed, refuse bad input, and print valid JSON.
# kernels: 6.1
# timeout: 400
# Every test starts with an unformatted cache device and no dm device.
# cpus: 1
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh
. ./command.sh

NAME=cli
SIGNATURE_SPACE=2097152
# Exit code of a test that cannot run here.
SKIPPED=4

# without TOOL: skip this test, because the tool is missing.
without() {
	echo "# no $1 here"
	exit "$SKIPPED"
}

create() {
	good create "$NAME" --origin "$origin" --cache "$cache" "$@"
}

# fingerprint: hash of the part of the cache device that create would overwrite first.
fingerprint() {
	dd if="$cache" bs=64K count=$((SIGNATURE_SPACE / 65536)) iflag=direct 2>/dev/null | sha256sum
}

magics() {
	local offset magic count=0
	for offset in 4096 524288; do
		IFS= read -r -N 8 magic \
			< <(dd if="$cache" bs=4096 skip=$((offset / 4096)) count=1 iflag=direct)
		[[ $magic != nearcach ]] || count=$((count + 1))
	done 2>/dev/null
	echo "$count"
}

test_help() {
	local verb all
	good --help
	all=$out
	[[ $all == *'Exit codes'* ]] || fail "no exit codes in --help"
	for verb in create open close set attach resize invalidate list status stats destroy super; do
		[[ $all == *"  $verb "* ]] || fail "no '$verb' in --help"
		run "$verb" --help
		[[ $rc == 0 && $out == "Usage: nearcache $verb"* ]] || fail "$verb --help: $out"
	done
	good --version
}

# A command that cannot write its output must fail.
test_output_full() {
	local words
	for words in --help --version 'list -j' 'frob -j'; do
		rc=0
		# shellcheck disable=SC2086 # words
		nearcache $words >/dev/full 2>/tmp/err || rc=$?
		[[ $rc != 0 ]] || fail "nearcache $words >/dev/full: exit 0"
		[[ $(</tmp/err) == *'cannot write the output'* ]] ||
			fail "nearcache $words >/dev/full: $(</tmp/err)"
	done
}

test_usage() {
	bad 1 'no verb'
	bad 1 "'frob'" frob
	bad 1 "'--frob'" list --frob
	bad 1 "'x'" list x
	bad 1 'NAME' create --origin "$origin" --cache "$cache"
	bad 1 '--origin DEV' create a --cache "$cache"
	bad 1 "'1Q'" create a --origin "$origin" --cache "$cache" --block-size 1Q
	bad 1 '3145728' create a --origin "$origin" --cache "$cache" --block-size 3M
	bad 1 '8388608' create a --origin "$origin" --cache "$cache" --block-size 8M
	bad 1 '1024' create a --origin "$origin" --cache "$cache" --fill-memory 1K
	bad 1 "'a/b'" create a/b --origin "$origin" --cache "$cache"
	bad 1 'longer than 63' create "$(printf 'n%.0s' {1..64})" --origin "$origin" --cache "$cache"
	bad 1 'longer than 63' create a --origin "$origin" --cache "$cache" --dataset-version "$(printf 'v%.0s' {1..64})"
	bad 1 'invalid UTF-8' create a --origin "$origin" --cache "$cache" --dataset-version $'a\xffb'
	bad 1 'a??b' create a --origin "$origin" --cache "$cache" --dataset-version $'a\e\nb'
	bad 1 'it is empty' create a --origin "$origin" --cache "$cache" --dataset-version ''
	bad 1 'either NAME, --cache DEV or --stage DEV' destroy
	bad 1 'either NAME, --cache DEV or --stage DEV' destroy a --cache "$cache"
	bad 1 "'a b'" open 'a b' --cache "$cache"
	bad 1 "'a b'" close 'a b'
	bad 1 'longer than 63' status "$(printf 'n%.0s' {1..200})"
	bad 1 "it is empty" destroy ''
}

test_create_wrong_devices() {
	local before small ro
	before=$(fingerprint)
	bad 4 '/dev/nowhere' create a --origin /dev/nowhere --cache "$cache"
	bad 4 'not a block device' create a --origin "$origin" --cache /dev/null
	bad 4 'not a block device' create a --origin /etc/passwd --cache "$cache"
	bad 4 'both' create a --origin "$cache" --cache "$cache"
	small=$(null_dev small 1) || fail "no small device"
	bad 4 'too small' create a --origin "$origin" --cache "$small"
	null_del small
	ro=$(dm_create ro "0 $(blockdev --getsz "$cache") linear $cache 0" --readonly)
	bad 4 'read-only' create a --origin "$origin" --cache "$ro"
	bad 4 'share storage' create a --origin "$cache" --cache "$ro"
	dm_remove ro
	[[ $(fingerprint) == "$before" ]] || fail "a refused create wrote to the cache device"
}

test_create_in_use() {
	local before second
	mkfs.ext4 -q "$cache" 64M && mkdir -p /mnt/t && mount "$cache" /mnt/t
	bad 5 'in use' create a --origin "$origin" --cache "$cache" --force
	second=$(null_dev second 64) || fail "no second cache"
	bad 5 'in use' create a --origin "$cache" --cache "$second"
	umount /mnt/t
	before=$(fingerprint)
	bad 4 'ext4' create a --origin "$origin" --cache "$cache"
	[[ $(fingerprint) == "$before" ]] || fail "a refused create wrote to the cache device"
	create --force --format-only
	[[ $(blkid -p -o value -s TYPE "$cache") != ext4 ]] || fail "--force left the ext4 signature"
}

# Signatures that libblkid does not know: magic numbers as stored on the device.
own_signatures() {
	cat <<-'EOF'
		dm-cache 32 \x03\xc4\x18\0\0\0\0\0
		dm-thin 32 \xba\x52\x9c\x01\0\0\0\0
		dm-era 32 \x7b\x07\xc1\x7e\0\0\0\0
		dm-clone 32 \x64\x7f\xf2\x8a\0\0\0\0
		dm-writecache 0 \x21\x93\x48\x23
	EOF
}

mbr() {
	printf '\x55\xaa' | dd of="$cache" bs=1 seek=510 conv=fsync 2>/dev/null
	printf '\x80\0\0\0\x83\0\0\0\0\x08\0\0\0\x08\0\0' |
		dd of="$cache" bs=1 seek=446 conv=fsync 2>/dev/null
}

# create must not overwrite partitions in use; it removes unused ones.
test_create_over_partitions() {
	local before part
	mbr
	blockdev --rereadpt "$cache" || fail "no partition table read"
	part=${cache}p1
	[[ -b $part ]] || wait_for 5 test -b "$part" || fail "no partition"
	exec 7<"$part"
	before=$(fingerprint)
	bad 5 'a partition of' create a --origin "$origin" --cache "$cache" --force
	[[ $(fingerprint) == "$before" ]] || fail "a refused create wrote to the cache device"
	exec 7<&-
	create --force --format-only
	[[ ! -e /sys/class/block/${part##*/} ]] || fail "the partition is still there"
}

# Refused: a device stacked on the origin could write to the origin.
test_origin_held() {
	dm_create other "0 2048 linear $origin 0" >/dev/null || fail "no device on the origin"
	bad 5 "in use by 'dm-" create a --origin "$origin" --cache "$cache"
	dm_remove other
	create
	dm_create other "0 2048 linear $origin 0" >/dev/null || fail "no device on the origin"
	good close "$NAME"
	bad 5 "in use by 'dm-" open "$NAME" --cache "$cache"
	dm_remove other
	good open "$NAME" --cache "$cache"
}

test_create_over_content() {
	local what offset magic
	mbr
	bad 4 'partition table' create a --origin "$origin" --cache "$cache"
	wipefs -aq "$cache"
	while read -r what offset magic; do
		dd if=/dev/zero of="$cache" bs=4096 count=1 conv=fsync 2>/dev/null
		printf '%b' "$magic" | dd of="$cache" bs=1 seek="$offset" conv=fsync 2>/dev/null
		bad 4 "$what metadata" create a --origin "$origin" --cache "$cache"
	done < <(own_signatures)
	create --force --format-only
	bad 4 "nearcache '$NAME'" create a --origin "$origin" --cache "$cache"
	# Only the second superblock copy is left.
	dd if=/dev/zero of="$cache" bs=4096 seek=1 count=1 oflag=direct 2>/dev/null
	bad 4 "nearcache '$NAME'" create a --origin "$origin" --cache "$cache"
	printf 'X' | dd of="$cache" bs=1 seek=$((524288 + 100)) conv=fsync 2>/dev/null
	bad 4 'invalid nearcache superblock (checksum is' create a --origin "$origin" --cache "$cache"
	# A superblock of a future version.
	printf '\x02' | dd of="$cache" bs=1 seek=$((524288 + 8)) conv=fsync 2>/dev/null
	bad 4 'invalid nearcache superblock (version is 2' create a --origin "$origin" --cache "$cache"
}

test_create() {
	create -j --dataset-version 'v1 ü' --fill-memory 32M --block-size 128K
	json_keys schema name device mode origin size cache table uuid label format_version sequence \
		created super_state block_size subblock_size blocks capacity device_size data_offset \
		table_pages intent_region origin_size origin_id origin_fingerprint dataset_version \
		active dry_run metadata_memory fill_memory_max next nearcachetab
	[[ $(json nearcachetab) == "$NAME $(readlink -f "$origin") UUID=$(json uuid) _netdev" ]] ||
		fail "the line for nearcachetab is '$(json nearcachetab)'"
	expect name "$NAME" mode read-only block_size 131072 subblock_size 4096 active true \
		dry_run false dataset_version 'v1 ü' super_state clean
	[[ $(json table) == *' 2 fill_memory 33554432' ]] || fail "table is '$(json table)'"
	[[ -b /dev/mapper/$NAME ]] || fail "no node"
	[[ $(blockdev --getro "/dev/mapper/$NAME") == 1 ]] || fail "not read-only"
	[[ $(blockdev --getsize64 "/dev/mapper/$NAME") == $(blockdev --getsize64 "$origin") ]] || fail "wrong size"
	[[ $(dmsetup info -c --noheadings -o uuid "$NAME") == nearcache-$(json uuid) ]] || fail "wrong dm uuid"
	bad 5 'in use' create other --origin "$origin" --cache "$cache" --force
}

test_create_name_taken() {
	dm_create "$NAME" "0 2048 zero" >/dev/null
	bad 5 "'$NAME'" create "$NAME" --origin "$origin" --cache "$cache"
	bad 4 'another kind' close "$NAME"
	bad 4 'another kind' status "$NAME"
	bad 4 'another kind' destroy "$NAME"
	good list
	[[ ! $out ]] || fail "list shows a foreign device: $out"
	dm_remove "$NAME"
	[[ $(magics) == 0 ]] || fail "a refused create left a superblock"
}

test_dry_run() {
	local before
	before=$(fingerprint)
	create --dry-run
	[[ $out != *' nearcache read-only '* ]] || fail "a table without -v: $out"
	create --dry-run -v
	[[ $out == *' nearcache read-only '*'dry run'*'AREA'* ]] || fail "says: $out"
	create --dry-run -j
	json_keys table block_size areas name offset length
	expect dry_run true active false
	[[ $(fingerprint) == "$before" && ! -e /dev/mapper/$NAME ]] || fail "create --dry-run did something"
	create
	good close "$NAME" --dry-run -j
	expect closed false dry_run true
	good destroy "$NAME" --dry-run
	[[ -b /dev/mapper/$NAME && $(magics) == 2 ]] || fail "close or destroy --dry-run did something"
	good close "$NAME"
	good open "$NAME" --cache "$cache" --dry-run
	[[ ! -e /dev/mapper/$NAME ]] || fail "open --dry-run did something"
}

# After a write error in the middle of create, the device must carry no cache.
test_create_write_error() {
	local broken
	broken=$(null_dev broken 256 badblocks=+3000-3007) || fail "no device with bad blocks"
	bad 4 'cannot write' create a --origin "$origin" --cache "$broken"
	bad 4 'no nearcache superblock' super "$broken"
	[[ ! -e /dev/mapper/a ]] || fail "a device was left"
	null_del broken
}

# Interrupt create at various moments: it must complete, or leave neither cache nor device.
test_create_interrupted() {
	local cache pid delay won='' stopped=''
	local delays=(0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 1.2 1.5 2 3 5 20 60)
	cache=$(null_dev slow 1024 completion_nsec=20000000) || fail "no slow device"
	((${SOAK:-0})) || delays=(0.1 0.3 0.6 1 1.5 3 5 20 60)
	for delay in "${delays[@]}"; do
		nearcache create "$NAME" --origin "$origin" --cache "$cache" >/dev/null &
		pid=$!
		sleep "$delay"
		# A background job of a script ignores SIGINT.
		kill -TERM "$pid" 2>/dev/null
		if wait "$pid" 2>/dev/null; then
			won=1
			good destroy "$NAME"
			break
		else
			stopped=1
			[[ $(magics) == 0 ]] || fail "after $delay s: a superblock was left"
			[[ ! -e /dev/mapper/$NAME ]] || fail "after $delay s: a device was left"
		fi
	done
	[[ $won ]] || fail "create never succeeded"
	[[ $stopped ]] || fail "create was never interrupted"
	null_del slow
}

# Send a signal at every fourth ioctl ('make soak': at each): open must complete or leave nothing.
test_open_interrupted() {
	local n stopped=0 step=$((${SOAK:-0} ? 1 : 4))
	type -P strace >/dev/null || without strace
	create --format-only
	for ((n = 1; n < 60; n += step)); do
		injected "ioctl:signal=SIGTERM:when=$n" open "$NAME" --cache "$cache"
		grep -q SIGTERM "$TMPDIR/trace" || break
		if ((!rc)); then
			good close "$NAME"
			continue
		fi
		stopped=$((stopped + 1))
		[[ ! -e /dev/mapper/$NAME && $(dmsetup ls) != "$NAME"* ]] || fail "ioctl $n: device left behind"
	done
	[[ $n -lt 60 ]] || fail "no end of calls"
	((stopped * step >= 10)) || fail "only $stopped signals"
	good close "$NAME"
	good super "$cache"
}

# When the kernel refuses a table, the command must quote the kernel log.
test_kernel_refuses() {
	local copy
	create --format-only
	copy=$(null_dev other "$(($(blockdev --getsize64 "$cache") >> 20))") || fail "no other device"
	dd if="$cache" of="$copy" bs=1M count=16 conv=fsync 2>/dev/null
	dm_create a "0 $(blockdev --getsz "$origin") nearcache read-only $origin $copy" --uuid nearcache-copy >/dev/null || fail "no copy"
	bad 5 'the kernel log says: device-mapper' open "$NAME" --cache "$cache"
	[[ ! -e /dev/mapper/$NAME && $(dmsetup ls) != *"$NAME"* ]] || fail "a device was left"
	dm_remove a
	good open a --cache "$copy" --origin "$origin"
	bad 5 'uuid' open "$NAME" --cache "$cache"
	good close a
	null_del other
}

# Let one system call in eight fail ('make soak': each), one per run: create works or leaves nothing.
test_create_each_call_fails() {
	local call n failed=0 step=$((${SOAK:-0} ? 1 : 8))
	type -P strace >/dev/null || without strace
	for call in ioctl pwrite64 fsync; do
		for ((n = 1; n < 60; n += step)); do
			injected "$call:error=EIO:when=$n" \
				create "$NAME" --origin "$origin" --cache "$cache"
			grep -q INJECTED "$TMPDIR/trace" || break
			if ((rc)); then
				failed=$((failed + 1))
				[[ $(magics) == 0 ]] ||
					fail "$call $n: superblock left behind: $(<"$TMPDIR/said")"
				[[ ! -e /dev/mapper/$NAME && $(dmsetup ls) != "$NAME"* ]] ||
					fail "$call $n: device left behind: $(<"$TMPDIR/said")"
			else
				good destroy "$NAME"
			fi
		done
		[[ $n -lt 60 ]] || fail "$call: no end of calls"
		nearcache destroy "$NAME" >/dev/null 2>&1
	done
	((failed * step >= 20)) || fail "only $failed calls failed"
}

test_super() {
	create --format-only --block-size 64K
	good super "$cache" -j
	json_keys schema path size sound copies copy offset sound counts sequence state why super uuid \
		areas slot_table pages pages_sound_both pages_sound_one pages_damaged blocks_used bytes_valid next_open
	expect next_open warm sound true pages_damaged 0 blocks_used 0 block_size 65536
	[[ $(json pages) == "$(json pages_sound_both)" ]] || fail "pages not sound: $out"
	dd if="$cache" of=/tmp/image bs=1M count=16 2>/dev/null
	bad 4 'truncated' super /tmp/image
	truncate -s "$(blockdev --getsize64 "$cache")" /tmp/image
	good super /tmp/image
	# A torn page copy, then a torn superblock copy.
	printf 'X' | dd of=/tmp/image bs=1 seek=$((1048576 + 100)) conv=notrunc 2>/dev/null
	printf 'X' | dd of=/tmp/image bs=1 seek=$((4096 + 300)) conv=notrunc 2>/dev/null
	good super /tmp/image -j
	expect pages_sound_one 1 pages_damaged 0 sound true
	[[ $out == *'computed'* ]] || fail "no reason against the damaged copy: $out"
	printf 'X' | dd of=/tmp/image bs=1 seek=$((524288 + 300)) conv=notrunc 2>/dev/null
	bad 4 'checksum' super /tmp/image
	rm /tmp/image
	bad 4 '/nowhere' super /nowhere
}

# Both copies are valid, but belong to different caches.
test_super_of_two() {
	create --format-only
	dd if="$cache" of=/tmp/copy bs=4096 skip=1 count=1 iflag=direct 2>/dev/null
	create --format-only --force
	dd if=/tmp/copy of="$cache" bs=4096 seek=1 oflag=direct conv=fsync 2>/dev/null
	bad 4 'uuid differs' super "$cache"
	bad 4 'uuid differs' open "$NAME" --cache "$cache"
	bad 4 'uuid differs' create "$NAME" --origin "$origin" --cache "$cache"
	bad 4 'uuid differs' destroy --cache "$cache"
	good destroy --cache "$cache" --force
}

test_open_close() {
	create --format-only
	[[ ! -e /dev/mapper/$NAME ]] || fail "--format-only opened a device"
	good open "$NAME" --cache "$cache" -j
	json_keys schema name device mode origin size cache table dataset_version content state loaded dry_run
	expect name "$NAME" origin "$origin" state normal loaded new dry_run false
	bad 5 "device '$NAME'" open other --cache "$cache"
	exec 7<"/dev/mapper/$NAME"
	bad 5 "process" close "$NAME"
	bad 5 "process" destroy "$NAME"
	exec 7<&-
	good close "$NAME" -j
	json_keys schema name closed dry_run
	[[ ! -e /dev/mapper/$NAME ]] || fail "still there"
	bad 4 "no device '$NAME'" close "$NAME"
	# Open under another name, with the origin given.
	good open "$NAME.2" --cache "$cache" --origin "$origin" --fill-memory 8M
	good close "/dev/mapper/$NAME.2"
}

# is_valid BYTES: are just BYTES bytes cached?
is_valid() {
	good status "$NAME" -j
	[[ $(json bytes_valid) == "$1" ]]
}

test_open_warm() {
	local counted
	create
	dd if="/dev/mapper/$NAME" of=/dev/null bs=1M count=8 iflag=direct 2>/dev/null || fail "read failed"
	# Fills may end after their reads.
	wait_for 30 is_valid 8388608 || fail "not cached: $out"
	expect loaded new bytes_valid 8388608 read_bytes 8388608 hit_ratio 0
	good close "$NAME"
	good open "$NAME" --cache "$cache"
	dd if="/dev/mapper/$NAME" of=/dev/null bs=1M count=8 iflag=direct 2>/dev/null || fail "read failed"
	good status "$NAME" -j
	expect loaded warm bytes_valid 8388608 hit_ratio 1
	good super "$cache" -j
	expect bytes_valid 8388608 next_open warm
	good set "$NAME" mode=writearound
	good super "$cache" -j
	expect bytes_valid 8388608 next_open cold
	good super "$cache"
	[[ $out == *'cold: open in a writing mode'* ]] || fail "no message that the next open is cold: $out"
	good close "$NAME"
	good super "$cache" -j
	expect bytes_valid 8388608 next_open warm
	# Damage one copy of a page: the helper must ignore this page, as the kernel does.
	printf 'X' | dd of="$cache" bs=1 seek=$((1048576 + 100)) conv=fsync 2>/dev/null
	good super "$cache" -j
	expect pages_sound_one 1
	counted=$(json bytes_valid)
	((counted < 8388608)) || fail "the page still counts"
	run open "$NAME" --cache "$cache" -j
	[[ $rc == 0 && $err == *'slot table is damaged'* ]] || fail "open: exit $rc, $err"
	expect content warm state normal loaded damaged
	good status "$NAME" -j
	expect loaded damaged bytes_valid "$counted"
}

test_open_wrong_origin() {
	local other before
	bad 4 'no nearcache superblock' open "$NAME" --cache "$cache"
	create --format-only
	other=$(null_dev other 64) || fail "no other device"
	bad 4 "67108864 bytes, the cache was created for one of $(blockdev --getsize64 "$origin") bytes" \
		open "$NAME" --cache "$cache" --origin "$other"
	null_del other
	other=$(dm_create other "0 $(blockdev --getsz "$origin") linear $(remote_backing) 0") || fail "no other device"
	bad 4 'wwid:' open "$NAME" --cache "$cache" --origin "$other"
	dm_remove other
	# Another host writes to the volume.
	before=$(dd if="$(remote_backing)" bs=512 count=1 iflag=direct 2>/dev/null | base64)
	head -c 512 /dev/urandom | dd of="$(remote_backing)" bs=512 count=1 oflag=direct 2>/dev/null
	bad 4 'was changed' open "$NAME" --cache "$cache"
	[[ $out == *'--on-change=drop'* ]] || fail "no advice: $out"
	base64 -d <<<"$before" | dd of="$(remote_backing)" bs=512 count=1 oflag=direct 2>/dev/null
	good open "$NAME" --cache "$cache"
	good close "$NAME"
	# The user must name an origin that has no identity.
	other=$(null_dev other 64) || fail "no other device"
	good create "$NAME" --origin "$other" --cache "$cache" --force
	good close "$NAME"
	bad 4 '--origin' open "$NAME" --cache "$cache"
	good open "$NAME" --cache "$cache" --origin "$other"
	good close "$NAME"
	null_del other
}

# same_uuid UUID DM_UUID: create, super, list and status give the cache one uuid.
same_uuid() {
	local uuid=$1
	[[ $2 == "nearcache-$uuid" ]] || fail "status: uuid '$uuid', dm_uuid '$2'"
	good super -j "$cache"
	expect uuid "$uuid"
	good list -j
	[[ $out == *"\"uuid\": \"$uuid\""* ]] || fail "list has another uuid than $uuid: $out"
	good status -j "$NAME"
}

test_list_status_stats() {
	local second
	good list -j
	json_keys schema devices
	good status -j
	create
	second=$(null_dev second 64) || fail "no second cache"
	good create "$NAME.2" --origin "$origin" --cache "$second"
	good list
	[[ $(wc -l <<<"$out") == 3 && $out == NAME*"$NAME "*"$NAME.2 "* ]] || fail "list: $out"
	good list -j
	json_keys devices name mode state size origin cache capacity bytes_valid hit_ratio
	good status -j "$NAME"
	json_keys name mode state loaded device uuid size origin cache read_only suspended open_count \
		block_size subblock_size capacity blocks blocks_used blocks_warm bytes_valid read_bytes \
		hit_ratio write_bytes fill_memory fill_memory_peak fill_memory_max metadata_memory
	expect name "$NAME" state normal mode read-only hit_ratio null origin_state ok next null
	same_uuid "$(json uuid)" "$(json dm_uuid)"
	[[ $out != *devices* ]] || fail "one device is not at the top level"
	good status "$NAME" "$NAME.2" -j
	json_keys devices name name
	good stats -j "$NAME.2"
	json_keys status_version mode state loaded hits hit_bytes misses fills evictions slots_dropped
	good status "$NAME"
	[[ $out == *'cached '*' of '*'(0.0 %)'*'origin state '*'no read has failed'* && $out != *'next '* ]] ||
		fail "status: $out"
	dmsetup suspend --noudevsync "$NAME"
	good status "$NAME"
	dmsetup resume --noudevsync "$NAME"
	[[ $out == *"next "*"dmsetup resume $NAME" ]] || fail "status while suspended: $out"
	good stats "$NAME"
	[[ $out == *'hit_bytes '*bytes* ]] || fail "stats: $out"
	bad 4 "no device 'nobody'" status nobody
	bad 4 "no device 'nobody'" stats "$NAME" nobody
	good destroy "$NAME.2"
	null_del second
}

test_destroy() {
	create
	good destroy "$NAME" -j
	json_keys schema name cache destroyed dry_run
	[[ $(magics) == 0 && ! -e /dev/mapper/$NAME ]] || fail "something is left"
	bad 4 "no device '$NAME'" destroy "$NAME"
	bad 4 'no nearcache superblock' destroy --cache "$cache"
	bad 4 'no nearcache superblock' destroy --cache "$cache" --force
	create
	good destroy --cache "$cache"
	[[ $(magics) == 0 && ! -e /dev/mapper/$NAME ]] || fail "something is left"
	create --format-only
	for copy in 4096 524288; do
		printf 'X' | dd of="$cache" bs=1 seek=$((copy + 300)) conv=fsync 2>/dev/null
	done
	bad 4 '--force' destroy --cache "$cache"
	good destroy --cache "$cache" --force
	[[ $(magics) == 0 ]] || fail "something is left"
}

# as_nobody WORDS...: run nearcache without root privileges; sets $rc and $out.
as_nobody() {
	rc=0
	out=$(busybox start-stop-daemon -S -q -c nobody -x /usr/sbin/nearcache -- "$@" 2>&1) || rc=$?
}

# Without root privileges, each command that changes something must fail and change nothing.
test_permission() {
	grep -q ^nobody: /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
	# By default the guest's root directory is closed to other users.
	chmod 755 /
	create --format-only
	for words in "list --all" "super $cache" "close $NAME" "open $NAME --cache $cache" \
		"set $NAME mode=read-only" "resize $NAME" "invalidate $NAME"; do
		# shellcheck disable=SC2086 # words
		as_nobody $words
		[[ $rc == 2 ]] || fail "$words as nobody: exit $rc: $out"
	done
}

reset() {
	local name
	! grep -q ' /mnt/t ' /proc/mounts || umount /mnt/t
	# Remove the caches first, because they use the other devices.
	for name in $({ dmsetup ls --target nearcache; dmsetup ls; } |
		awk '!/^No / && !seen[$1]++ { print $1 }'); do
		dmsetup remove --noudevsync "$name" 2>/dev/null && rm -f "/dev/mapper/$name"
	done
	for name in small broken other second slow; do
		[[ ! -d $NULLB/$name ]] || null_del "$name"
	done
	dd if=/dev/zero of="$cache" bs=64K count=$((SIGNATURE_SPACE / 65536)) conv=fsync 2>/dev/null
}

type -P nearcache >/dev/null || skip "the nearcache command is not built"
cache=$(local_dev) || exit 1
origin=$(remote_dev) || origin=$(remote_up) || exit 1
mapfile -t tests < <(compgen -A function test_)
echo "TAP version 13"
echo "1..${#tests[@]}"
number=0 failed=0
for test in "${tests[@]}"; do
	number=$((number + 1))
	reset
	("$test")
	case $? in
	0) echo "ok $number ${test#test_}" ;;
	"$SKIPPED") echo "ok $number ${test#test_} # SKIP a tool is missing" ;;
	*)
		echo "not ok $number ${test#test_}"
		failed=$((failed + 1))
		;;
	esac
done
reset
remote_down
((!failed))
