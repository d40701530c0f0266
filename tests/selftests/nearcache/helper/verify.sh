#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache verify must compare files with a manifest, by direct I/O through the cache, and name
# each mismatch. Also: the read-ahead setting must survive table reloads; stats --watch.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

unmount() {
	cd /
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
	! grep -q " $TMPDIR/rw " /proc/mounts || umount "$TMPDIR/rw"
}

# sums FILE...: write a manifest of the files to $TMPDIR/sums.
sums() {
	sha256sum "$@" >"$TMPDIR/sums"
}

# problems N TEXT FILES WORDS...: verify must report N problems in FILES files, and print TEXT.
problems() {
	local count=$1 text=$2 of=$3
	shift 3
	bad 4 "$count of $of files do not match the manifest" verify nc "$@"
	[[ $(grep -c '"result":' <<<"$out") == "$count" && $out == *"$text"* ]] ||
		fail "verify $*: not $count times '$text': $out"
}

verifies() {
	local i
	mkdir mnt rw
	mkfs.ext4 -qF -b 4096 -E nodiscard "$O" 2>/dev/null && mount "$O" rw || fail "no file system"
	for i in {1..6}; do
		head -c $((i * 99999)) /dev/urandom >"rw/$i.bin"
	done
	: >rw/empty
	umount rw
	good create nc --origin "$O" --cache "$C" --block-size 64K
	mount -o ro /dev/mapper/nc mnt || fail "mount"
	cd mnt || exit
	sums -- *.bin empty
	good verify nc --manifest "$TMPDIR/sums"
	[[ $out == *'files     7'* && $out == *'sound     7'* ]] || fail "verify: $out"
	settle
	# Again, with everything cached.
	origin_mark
	good verify nc --manifest "$TMPDIR/sums" -j
	json_keys schema name manifest state files sound bytes dry_run problems
	expect name nc state normal files 7 sound 7 bytes $((21 * 99999)) dry_run false
	same "bytes from the origin" "$(origin_delta)" 0
	good verify nc --manifest "$TMPDIR/sums" 1.bin './[23].bin' -j
	expect files 3 sound 3
	printf './4.bin\n' >"$TMPDIR/list"
	out=$(nearcache verify nc --manifest - --from "$TMPDIR/list" -j <"$TMPDIR/sums") || fail "--manifest -"
	expect files 1 sound 1
	good verify nc --manifest "$TMPDIR/sums" --dry-run -j
	expect files 7 sound 0 dry_run true
	wrong
	damaged
	cd .. || exit
	umount mnt
}

wrong() {
	(cat "$TMPDIR/sums" && echo "$(printf '0%.0s' {1..64})  gone") >"$TMPDIR/more"
	problems 1 '"missing"' 8 --manifest "$TMPDIR/more"
	sed 's/3.bin$/x/; s/2.bin$/3.bin/; s/x$/2.bin/' "$TMPDIR/sums" | grep -v 2.bin >"$TMPDIR/more"
	problems 1 '"path": "3.bin"' 6 --manifest "$TMPDIR/more"
	[[ $out == *'"mismatch"'* ]] || fail "no mismatch: $out"
	grep -v 2.bin "$TMPDIR/sums" >"$TMPDIR/more"
	problems 1 '"unlisted"' 2 --manifest "$TMPDIR/more" 1.bin 2.bin
	echo "$(printf '0%.0s' {1..64})  ./1.bin" | cat "$TMPDIR/sums" - >"$TMPDIR/more"
	bad 1 "line 1 ('1.bin') and line 8 ('./1.bin') are the same file" verify nc --manifest "$TMPDIR/more" 1.bin
	cp 1.bin "$TMPDIR/copy"
	sums 1.bin "$TMPDIR/copy"
	problems 1 '"elsewhere"' 2 --manifest "$TMPDIR/sums"
	sums -- *.bin empty
	bad 1 "'verify' needs --manifest FILE" verify nc
	bad 4 "cannot open the manifest 'none'" verify nc --manifest none
	echo nonsense >"$TMPDIR/more"
	bad 1 "line 1: it is not a line of sha256sum" verify nc --manifest "$TMPDIR/more"
	bad 1 "'0-512' is a range of the device" verify nc --manifest "$TMPDIR/sums" 0-512
	bad 4 "no device 'nobody'" verify nobody --manifest "$TMPDIR/sums"
	bad 1 "cannot both be standard input" verify nc --manifest - --from -
}

# damaged: another host changes a file; verify must read the device, not the page cache.
damaged() {
	local block
	cat 5.bin >/dev/null
	block=$(filefrag -v 5.bin | awk '$1 == "0:" { print $4 + 0 }')
	echo changed | dd of="$O" bs=1 seek=$((block * 4096 + 70)) conv=notrunc,fsync 2>/dev/null
	run verify nc --manifest "$TMPDIR/sums"
	[[ $rc == 0 ]] || fail "the cache lost it: $err $out"
	run invalidate nc 5.bin
	[[ $rc == 0 ]] || fail "invalidate: $err"
	problems 1 '"path": "5.bin"' 7 --manifest "$TMPDIR/sums"
	[[ $(sha256sum 6.bin) == "$(grep 6.bin "$TMPDIR/sums")" ]] || fail "6.bin"
}

# ahead BYTES: fail unless the device has this read-ahead.
ahead() {
	good get nc read-ahead -j
	expect read_ahead "$1"
	[[ $(blockdev --getra /dev/mapper/nc) == $(($1 / 512)) ]] || fail "read-ahead $(blockdev --getra /dev/mapper/nc)"
}

settings() {
	good get nc -j
	json_keys schema name mode fill_memory fill_memory_auto cache_timeout_ms origin_timeout_s verify witness read_ahead
	expect mode read-only cache_timeout_ms 700 origin_timeout_s 0 verify 0 witness null
	good get nc mode fill-memory
	[[ $out == nc$'\n'*mode*read-only*fill_memory*64\ MiB ]] || fail "get: $out"
	good set nc read-ahead=4M -j
	expect changed true read_ahead 4194304
	ahead 4194304
	# Read-ahead survives new tables.
	good set nc verify=1000
	ahead 4194304
	good set nc read-ahead=16K fill-memory=32M
	ahead 16384
	good resize nc
	good set nc read-ahead=16K -j
	expect changed false
	good set nc read-ahead=1M --dry-run
	ahead 16384
	good set nc read-ahead=0
	ahead 0
	bad 1 "read_ahead '1000': give 0 (none) to 1G" set nc read-ahead=1000
	bad 1 "'read' is not a setting: it can be mode," get nc read
	bad 4 "no device 'nobody'" get nobody
	bad 1 'needs NAME' get
}

# reader: read until $TMPDIR/stop exists.
reader() {
	until [[ -e $TMPDIR/stop ]]; do
		dd if=/dev/mapper/nc of=/dev/null bs=64K count=64 iflag=direct 2>/dev/null || exit
	done
}

# sees_hits: fail unless at least one of three reports shows the hits of the reader.
sees_hits() {
	local lines line
	good stats --watch --interval 0.2 --count 3 -j
	mapfile -t lines <<<"$out"
	[[ ${#lines[@]} == 3 ]] || fail "not 3 lines: $out"
	for line in "${lines[@]}"; do
		[[ $line == '{"schema":1,"time_ns":'*'"devices":[{"name":"nc","span_ns":'*'"delta":{"hits":'*'}}]}' ]] ||
			fail "stats --watch: $line"
	done
	[[ $out =~ '"delta":{"hits":'[1-9] ]]
}

watched() {
	local reader
	reader &
	reader=$!
	wait_for 60 sees_hits || fail "no hits: $out"
	good stats nc --watch --count 2 --interval 0.2
	[[ $(grep -c '^DEVICE .*READ/S' <<<"$out") == 2 && $(grep -c '^nc ' <<<"$out") == 2 ]] ||
		fail "stats --watch: $out"
	: >"$TMPDIR/stop"
	wait $reader || fail "reader"
	bad 1 "--interval and --count go with --watch" stats --count 1
	bad 1 "--interval '0': give 0.1 to" stats --watch --interval 0
	bad 1 "--count '0': give 1" stats --watch --count 0
	run stats nobody --watch -j
	[[ $rc == 4 && $out == '{"schema":1,"error":{"code":4,'*'}}' ]] || fail "stats --watch of a missing device: $rc $out"
}

# bypassed: with a bypassed cache, verify reads the origin and must warn.
bypassed() {
	local passes=0
	dmsetup load cachedev --table "0 $(sectors "$C") error" && dmsetup resume --noflush cachedev ||
		fail "no errors"
	mount -o ro /dev/mapper/nc mnt || fail "mount"
	while [[ $(field state) == 0 ]]; do
		((passes++ < 5)) || fail "not bypassed: $(dmsetup status nc)"
		dd if=/dev/mapper/nc of=/dev/null bs=1M iflag=direct 2>/dev/null || fail "a reader saw it"
	done
	(cd mnt && sha256sum -- *.bin) >"$TMPDIR/sums"
	cd mnt || exit
	run verify nc --manifest "$TMPDIR/sums"
	[[ $rc == 0 && $err == *"'nc' is in state 'bypass'"* ]] || fail "verify in bypass: $rc $err $out"
	cd .. || exit
	umount mnt
}

type -P nearcache >/dev/null || skip "the nearcache command is not built"
cd "$TMPDIR" || exit
make_null O origin 32
make_null local local 24
# shellcheck disable=SC2154
make_dm C cachedev "0 $(sectors "$local") linear $local 0"
at_exit dm_gone nc
at_exit unmount
verifies
settings
watched
bypassed
