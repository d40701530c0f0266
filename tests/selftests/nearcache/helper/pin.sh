#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache pin, unpin and ranges: pinned data must be loaded and then be read without the origin,
# whatever else is read. A refusal must change nothing and print how much room is needed. Pins must
# return after close and open, also when a file has moved or the record is damaged.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

M=$TMPDIR/mnt
RECORD=/var/lib/nearcache/pins/nc.json

unmount() {
	cd /
	! grep -q " $M " /proc/mounts || umount "$M"
	rm -f "$RECORD"
}

# opened WORDS...: open the cache with 'nearcache WORDS' and mount it read-only.
opened() {
	good "$@"
	mount -o ro /dev/mapper/nc "$M" && cd "$M" || fail "mount"
}

closed() {
	cd /
	umount "$M" || fail "umount"
	good close nc
}

# direct FILE...: read with direct I/O, so that reads reach the cache.
direct() {
	local file
	for file; do
		dd if="$file" of=/dev/null bs=1M iflag=direct 2>/dev/null || fail "cannot read $file"
	done
	settle
}

# no_origin FILE...: read these files; fail if the origin is read.
no_origin() {
	# Load the file system's metadata first.
	ls -l "$@" >/dev/null
	origin_mark
	direct "$@"
	same "bytes from the origin of $*" "$(origin_delta)" 0
}

loaded() {
	run jobs nc -j
	[[ $rc == 0 && $(json running) == 0 ]]
}

pinned() {
	good pin nc a.bin b.bin --label both --wait -j
	json_keys schema name label wants shard_count ranges bytes needed_bytes available_bytes dry_run \
		load job state done bytes fetched_bytes present_bytes left_bytes priority bandwidth label
	expect label both wants pin shard_count 2 bytes $((2 << 20)) state 'done' left_bytes 0
	# The room needed counts whole blocks.
	needed=$(json needed_bytes)
	((needed >= 2 << 20 && needed <= (2 << 20) + 4 * 65536 && !(needed % 65536))) || fail "$needed bytes are needed"
	good ranges nc -j
	json_keys schema name range_count needed_bytes available_bytes ranges start length wants priority expires_s label
	expect needed_bytes "$needed" wants pin label both
	# Read more data than fits; the two pinned files stay.
	no_origin a.bin b.bin
	direct [c-h].bin [c-h].bin
	no_origin a.bin b.bin
	good ranges nc --labels -j
	json_keys labels ranges bytes hit_ratio hits hit_bytes misses miss_bytes origin_bytes \
		prefetched_used_bytes prefetched_wasted_bytes prefetched_late_bytes id label
	expect hit_ratio 1 hit_bytes $((4 << 20)) miss_bytes 0
	good ranges nc
	[[ $out == *'START'*'LENGTH'*'WANTS'*'LABEL'*pin*both* ]] || fail "ranges: $out"
	good ranges nc --labels
	[[ $out == *'HITS'*'LABEL'*'100.0 %'*both* ]] || fail "labels: $out"
}

# wanted: test the other options of pin, default labels, and unpin.
wanted() {
	good pin nc c.bin --expires 1h --priority 3 --no-load -j
	expect label c.bin
	good ranges nc -j
	[[ $out == *'"priority": 3'* && $(sed -n 's/.*"expires_s": \([^0].*\),$/\1/p' <<<"$out") -le 3601 ]] ||
		fail "lease: $out"
	good pin nc sub d.bin --bypass -j
	expect label mnt wants bypass
	origin_mark
	direct sub/e.bin sub/e.bin
	(($(origin_delta) >= (2 << 20) - 65536)) || fail "bypassed, but $(origin_delta) bytes from the origin"
	good pin nc 0-1M --evict-after-use --dry-run -j
	expect label 0-1M wants evict-after-use dry_run true
	# Pinning the same file again must change only the time of expiry.
	good pin nc c.bin --expires 2h
	good ranges nc --labels -j
	[[ $(grep -c '"label": "c.bin"' <<<"$out") == 1 && $(grep -c '"ranges": 1,' <<<"$out") == 1 ]] || fail "twice: $out"
	wait_for 20 loaded || fail "jobs: $out"
	good unpin nc c.bin -j
	json_keys schema name deleted_ranges needed_bytes available_bytes dry_run
	expect deleted_ranges 1 needed_bytes "$needed"
	good unpin nc --label mnt
	good ranges nc -j
	[[ $out != *'"mnt"'* && $out != *'"c.bin"'* ]] || fail "unpinned: $out"
}

# start_of LABEL: print the start of the label's only range.
start_of() {
	good ranges nc -j
	grep -B 6 "\"label\": \"$1\"" <<<"$out" | sed -n 's/.*"start": \([0-9]*\),/\1/p'
}

# Unpinning a file must keep a range inside the file that was pinned separately. If the record of
# pins cannot be written, nothing may change.
kept() {
	local start before
	good pin nc c.bin --label keep --no-load
	start=$(start_of keep)
	good pin nc "$start-$((start + 65536))" --label keep --no-load
	good pin nc c.bin --label keep --no-load --priority 5
	good unpin nc c.bin -j
	expect deleted_ranges 1
	same "what was pinned for itself" "$(start_of keep)" "$start"
	good unpin nc --label keep
	good ranges nc -j
	before=$out
	cp "$RECORD" "$TMPDIR/record"
	injected fdatasync:error=EIO pin nc a.bin --label more
	[[ $rc == 4 && $(<"$TMPDIR/said") == *"cannot write '$RECORD': "* ]] || fail "pin: $(<"$TMPDIR/said")"
	injected fdatasync:error=EIO unpin nc a.bin
	[[ $rc == 4 && $(<"$TMPDIR/said") == *"cannot write '$RECORD': "* ]] || fail "unpin: $(<"$TMPDIR/said")"
	cmp "$RECORD" "$TMPDIR/record" || fail "the record changed"
	good ranges nc -j
	same "ranges without a record" "$out" "$before"
	good pin nc sub --label folder --no-load
	cd sub && good unpin nc . && cd ..
	good ranges nc -j
	same "ranges of a folder" "$out" "$before"
}

bad_input() {
	local before
	good ranges nc -j
	before=$out
	cp "$RECORD" "$TMPDIR/record"
	bad 4 " bytes) of the cache, of which 6.5 MiB (6815744 bytes) may be pinned: pin less" pin nc .
	(($(json needed_bytes) >= 9 << 20 && $(json available_bytes) == 6815744)) || fail "no numbers: $out"
	bad 4 "'none': No such file" pin nc a.bin none
	good ranges nc -j
	same "ranges after a refusal" "$out" "$before"
	cmp "$RECORD" "$TMPDIR/record" || fail "the record changed"
	bad 1 "no TARGET given" pin nc
	bad 1 "'pin' needs NAME" pin
	bad 4 "no device 'nobody'" pin nobody a.bin
	bad 1 "--priority '8': give 0 to 7" pin nc a.bin --priority 8
	bad 1 "--expires '1y': its unit must be" pin nc a.bin --expires 1y
	bad 1 "--label '': it is empty" pin nc a.bin --label=
	bad 1 "--wait is useless with --no-load" pin nc a.bin --wait --bypass
	bad 1 "--bypass and --evict-after-use exclude" pin nc a.bin --bypass --evict-after-use
	bad 1 "--refresh is for all" pin nc a.bin --refresh
	bad 1 "--all needs --refresh" pin --all
	bad 1 "--all and --wait exclude" pin --refresh --all --wait
	bad 1 "give NAME or --all, not both" pin nc --refresh --all
	bad 1 "nothing to unpin" unpin nc
	bad 1 "give one of them" unpin nc a.bin --all
	bad 4 "no such pin on" unpin nc --label none
	bad 4 "no such pin on" unpin nc 0-512
	bad 4 "no device 'nobody'" ranges nobody
	dmsetup suspend nc
	bad 5 "is suspended" pin nc a.bin
	dmsetup resume nc
}

# After close and open, the same data must be pinned and loaded; --refresh must follow a moved file.
again() {
	local start moved
	good ranges nc -j
	start=$(json start)
	closed
	[[ -s $RECORD ]] || fail "no record"
	mount "$O" "$M" && cp "$M/a.bin" "$M/new" && mv "$M/new" "$M/a.bin" && umount "$M" || fail "move"
	opened open nc --origin "$O" --cache "$C" --on-change drop
	[[ $out == *'pinned '*2* ]] || fail "open: $out"
	wait_for 20 loaded || fail "jobs: $out"
	good ranges nc -j
	expect start "$start"
	no_origin b.bin
	good pin nc --refresh --wait -j
	json_keys schema name pins moved missing_bytes load job state
	expect pins 2 moved 1 missing_bytes $((1 << 20)) state 'done'
	good ranges nc -j
	moved=$(grep -c "\"start\": $start," <<<"$out") || true
	same "ranges where it was" "$moved" 0
	no_origin a.bin b.bin
	# A record of another device of the same name must not be used.
	closed
	sed -i -E 's/"(uuid|origin_id)": "/&x/' "$RECORD"
	run open nc --origin "$O" --cache "$C"
	[[ $rc == 0 && $err == *"could not be restored"*"'$RECORD' belongs to another 'nc'"* ]] ||
		fail "a record of another device: $err"
	bad 4 "'nearcache pin nc --refresh' takes it over" pin nc 0-1M
	bad 4 "'nearcache unpin nc --all' removes it" unpin nc --label a.bin
	bad 4 "belongs to another 'nc'" unpin nc 0-1M
	good ranges nc -j
	expect range_count 0
	good pin nc --refresh
	good ranges nc -j
	expect range_count 2
	wait_for 20 loaded || fail "jobs: $out"
	mount -o ro /dev/mapper/nc "$M" && cd "$M" || fail "mount"
	# --refresh --all must load lost data of all devices again.
	run invalidate nc b.bin
	[[ $rc == 0 ]] || fail "invalidate: $err"
	good pin --refresh --all --dry-run
	[[ $out == *nc*'would refresh'* ]] || fail "dry run: $out"
	good pin --refresh --all -j
	json_keys schema devices name state pins moved missing_bytes job reason dry_run
	expect name nc state refreshed pins 2 moved 0 missing_bytes $((1 << 20))
	wait_for 20 loaded || fail "jobs: $out"
	no_origin a.bin b.bin
	good pin nc --refresh -j
	expect moved 0 missing_bytes 0
	wait_for 20 loaded || fail "jobs: $out"
	dmsetup suspend nc
	bad 5 "1 of 1 devices were not refreshed; 'nc': device 'nc' is suspended" pin --refresh --all
	dmsetup resume nc
	# A damaged record must not prevent open.
	closed
	echo '{ "schema": 1, "pins": [ { "path": "x" ' >"$RECORD"
	run open nc --origin "$O" --cache "$C"
	[[ $rc == 0 && $err == *'could not be restored'*"$RECORD' is damaged: it is cut off; repair it"* ]] || fail "damaged: $err"
	bad 4 "is damaged" pin nc 0-1M
	good close nc
	rm "$RECORD"
	opened open nc --origin "$O" --cache "$C"
	good pin nc b.bin --wait
	good unpin nc "$M/b.bin"
	[[ ! -e $RECORD ]] || fail "the record stays: $(<"$RECORD")"
	good pin nc b.bin c.bin --no-load
	cd / && umount "$M" || fail "umount"
	# A file that is gone can still be unpinned, if the record has it.
	echo "$M/b.bin" >"$TMPDIR/list"
	good unpin nc --from "$TMPDIR/list" -j
	expect deleted_ranges 1
	bad 4 "'$M/b.bin': No such file" unpin nc --from "$TMPDIR/list"
	: >"$TMPDIR/list"
	bad 1 "the list '$TMPDIR/list' is empty" unpin nc --from "$TMPDIR/list"
	[[ -s $RECORD ]] || fail "no record of c.bin"
	good destroy nc
	[[ ! -e $RECORD ]] || fail "destroyed, but on record"
}

populate() {
	local i
	mkdir "$M/sub"
	for i in a b c d f g h sub/e; do
		head -c 1m /dev/urandom >"$M/$i.bin"
	done
	head -c 1m /dev/urandom >"$M/sub/i.bin"
	rmdir "$M/lost+found"
}

mkdir "$M"
make_null O origin 24
make_null C local 8
at_exit dm_gone nc
at_exit unmount
mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$O" 2>/dev/null && mount "$O" "$M" && populate && umount "$M" || fail "mkfs"
opened create nc --origin "$O" --cache "$C" --block-size 64K
pinned
wanted
kept
bad_input
again
