#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache attach under a mounted file system: nc must take back a bypassed cache device, or take
# another one in its place. After a refusal nc must continue in bypass.
# kernels: 6.1
# timeout: 300
# cpus: 1
. ./given_up.sh
. ./command.sh

bypassed() {
	dd if=/dev/mapper/nc of=/dev/null bs=4k count=512 iflag=direct 2>"$TMPDIR/dd" ||
		fail "a read fails: $(cat "$TMPDIR/dd")"
	[[ $(field state) == 1 ]]
}

# given_up NAME: make the cache device fail until nc bypasses it.
given_up() {
	lies "$1" error
	wait_for 30 bypassed || fail "not bypassed"
}

# right: read all data twice, so that the second pass hits.
right() {
	check
	settle
	check
}

# tells TEXT REASON: status shows TEXT; list shows "bypass", and JSON shows REASON.
tells() {
	good status nc
	[[ $out == *bypass*"$1"*"'nearcache attach nc' takes it back"* ]] || fail "status: $out"
	good status nc -j
	expect state bypass reason "$2"
	good list
	[[ $out == *REASON*bypass*"$2"* ]] || fail "list: $out"
	good stats nc -j
	expect state bypass reason "$2"
}

# refused CODE TEXT WORDS...: the command must fail, and nc continue in bypass.
refused() {
	bad "$@"
	[[ $out == *"continues without its cache"* ]] || fail "no message that it goes on: $out"
	is state 1
	./blockdata read /dev/mapper/nc -n 4096 >/dev/null || fail "wrong data"
}

# warned TEXT WORDS...: the command must succeed with this warning.
warned() {
	run "${@:2}"
	[[ $rc == 0 && $err == *"$1"* ]] || fail "nearcache ${*:2}: exit $rc, no '$1' in '$err'"
}

unmount() {
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
}

make_null O origin 8
make_null stranger stranger 24
make_null local local 12
make_null fresh fresh 12
make_null third third 12
mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
./blockdata write "$O"
make_dm C slice "$(under linear "$local")"
make_dm spare spare "$(under linear "$fresh")"
at_exit dm_gone nc
at_exit dm_gone second
at_exit unmount
at_exit rm -f /var/lib/nearcache/pins/nc.json

# --- cache_timeout ---

bad 1 "--cache-timeout '50': give 0 (never) or 100 to 600000" create nc --origin "$O" --cache "$C" --cache-timeout 50
good create nc --origin "$O" --cache "$C" --cache-timeout 1000 --block-size 64K -j
[[ $(json table) == *' 2 cache_timeout 1000' ]] || fail "table: $out"
good status nc -j
expect state normal reason none cache_timeout_ms 1000
bad 1 "cache_timeout '600001': give 0 (never) or 100 to 600000" set nc cache_timeout=600001
good set nc cache_timeout=0 fill_memory=8M -j
expect changed true cache_timeout_ms 0 cache_timeout_ms_before 1000 fill_memory 8388608
[[ $(dmsetup table nc) == *' cache_timeout 0' ]] || fail "table: $(dmsetup table nc)"
good set nc cache_timeout=30000
good status nc
[[ $out == *'cache timeout'*'30000 ms'* && $out != *reason* ]] || fail "status: $out"

# --- the same cache device, read-only mode: warm ---

bad 4 "no device 'nobody'" attach nobody
bad 1 "add --format-cache" attach nc --block-size 64K
bad 1 "add --format-cache" attach nc --integrity crc32c
bad 1 "--format-cache needs --cache" attach nc --format-cache
bad 5 "'nc' already works with cache device '$C'" attach nc
right
written_down
given_up slice
tells "too many I/O errors of the cache device" errors
verify_begin -b 8 -a 1 -t 2
refused 4 "cannot read cache device '$C'" attach nc
lies slice linear
good attach nc --dry-run -j
expect dry_run true cache "$C" formatted false
is state 1
good attach nc -j
json_keys name mode cache cache_before formatted state loaded bytes_valid started dry_run
expect state normal loaded recovered mode read-only cache "$C" bytes_valid 8388608
[[ $(dmsetup table nc) == *' 4 fill_memory 8388608 cache_timeout 30000' ]] || fail "table: $(dmsetup table nc)"
verify_end
hits=$(field hits)
right
above hits "$hits"
good status nc -j
expect state normal reason none

# --- refusals ---

given_up slice
# A cache device that can be read but not written: attach fails and nc stays in bypass.
lies slice unwritable
bad 4 "failed again: the superblock cannot be written" attach nc
[[ $out == *'the kernel log says'*'continues without its cache'* ]] || fail "no reason: $out"
tells "the superblock cannot be written" write-super
right
refused 4 "carries no nearcache superblock" attach nc --cache "$spare"
refused 4 "No such file" attach nc --cache /dev/nothing
refused 4 "are both" attach nc --cache "$O"
format "$spare" "$stranger"
refused 4 "created for one of 25165824 bytes" attach nc --cache "$spare"
refused 4 "carries the nearcache 'fmt'" attach nc --cache "$spare" --format-cache
refused 5 "in use by device 'nc'" attach nc --cache "$C" --format-cache --force
good create second --origin "$stranger" --cache "$third"
refused 5 "in use by device 'second'" attach nc --cache "$third"
refused 5 "in use by device 'second'" attach nc --cache "$third" --format-cache --force
good destroy second
mkfs.ext4 -qF "$third" 2>/dev/null
refused 4 "ext4" attach nc --cache "$third" --format-cache
dmsetup suspend nc
bad 5 "'nc' is suspended" attach nc
dmsetup resume nc

# --- another cache device ---

good attach nc --cache "$third" --format-cache --force --dry-run
[[ $(blkid -o value -s TYPE "$third") == ext4 ]] || fail "a dry run writes"
warned "'nc' ($C) misses all writes from now on: format it" attach nc --cache "$third" --format-cache --force --block-size 128K -j
expect state normal loaded new cache "$third" cache_before "$C" formatted true
is block_size 131072
same "openers of the old one" "$(dmsetup info -c --noheadings -o open slice)" 0
right
good close nc
good open nc --cache "$third" --origin "$O" -j
expect loaded warm state normal remembered 'fill_memory=8388608 cache_timeout=30000'
right
good close nc

# --- under a mounted file system: cold ---

lies slice linear
good create nc --origin "$O" --cache "$C" --force --mode writethrough --block-size 64K
right
mkfs.ext4 -qF /dev/mapper/nc
mount /dev/mapper/nc "$TMPDIR/mnt"
dd if=/dev/urandom of="$TMPDIR/mnt/before" bs=64K count=30 2>/dev/null
before=$(sha256sum <"$TMPDIR/mnt/before")
check_files() {
	echo 3 >/proc/sys/vm/drop_caches
	same before "$(sha256sum <"$TMPDIR/mnt/before")" "$before"
	[[ ! ${during:-} ]] || same during "$(sha256sum <"$TMPDIR/mnt/during")" "$during"
}
check_files
settle
given_up slice
check_files
dd if=/dev/urandom of="$TMPDIR/mnt/during" bs=64K count=30 2>/dev/null
sync
during=$(sha256sum <"$TMPDIR/mnt/during")
lies slice unwritable
bad 4 "is bypassed: the superblock cannot be written" attach nc
is state 1
check_files
# A cache device that was closed before nc wrote lacks these writes: refused.
run attach nc --cache "$third"
[[ $rc == 4 && $err == *"origin '$O' was changed since"* ]] || fail "an old cache: $rc, $err"
lies slice linear
good attach nc -j
expect state normal loaded unclean mode writethrough
check_files
settle
check_files
above hits 0
umount "$TMPDIR/mnt"
e2fsck -fn /dev/mapper/nc >"$TMPDIR/fsck" 2>&1 || fail "fsck: $(cat "$TMPDIR/fsck")"
cmp /dev/mapper/nc "$O" || fail "cache and origin differ"
# The same when the writes did not change the ends of the origin, which the fingerprint covers.
good close nc
good create second --origin "$O" --cache "$third" --force
good close second
good open nc --cache "$C" --origin "$O" --mode writethrough
cmp /dev/mapper/nc "$O" || fail "cache and origin differ"
good pin nc 1M-2M
settle
given_up slice
bad 4 "may lack writes of 'nc'" attach nc --cache "$third"
bad 4 "may lack writes of 'nc'" attach nc --cache "$third" --force
warned "format it before it serves this origin again" attach nc --cache "$third" --format-cache --force
is state 0
# brought: has nc loaded its pins into the new cache device?
brought() {
	run residency nc 1M-2M -j
	[[ $rc == 0 && $(json cached_bytes) == 1048576 ]]
}
wait_for 20 brought || fail "pinned, but not cached: $out $err"
drop_caches
cmp /dev/mapper/nc "$O" || fail "cache and origin differ"
bad 4 "if it was attached later, --force" destroy nc
good destroy nc --force
