#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache attach --origin under a mounted file system: a disconnected remote volume comes back as
# another device, and the waiting reads must complete. attach must refuse any other volume.
# kernels: 6.12
# timeout: 300
# cpus: 1
. ./cache.sh
. ./command.sh

waiting() {
	(($(field reads_waiting) > 0))
}

# gone: disconnect the origin; cached data can be read, and a reader of uncached data waits.
gone() {
	nearcache invalidate nc --range 4M:512K >/dev/null || fail "invalidate"
	remote_disconnect
	./blockdata read /dev/mapper/nc -n 4096 -b 8 -g "$generation" || fail "hits fail"
	./blockdata read /dev/mapper/nc -s 8192 -n 1024 -b 8 -g "${1:-$generation}" >"$TMPDIR/reader" 2>&1 &
	reader=$!
	wait_for 30 waiting || fail "nothing waits"
}

# answered: fail unless the waiting reads complete and all data is right.
answered() {
	wait "$reader" || fail "the reads that waited: $(<"$TMPDIR/reader")"
	is reads_waiting 0
	check -g "$generation"
	settle
}

# refused CODE TEXT WORDS...: the command must fail, nc continue, and its readers wait.
refused() {
	bad "$@"
	[[ $out == *"'nc' goes on as before"* ]] || fail "no message that it goes on: $out"
	waiting || fail "nothing waits any more"
}

behind() {
	./blockdata write "$remote" -g "$1"
}

# stop_reader: origin_timeout=0 ends the waiting reads; nothing else does.
stop_reader() {
	nearcache set nc origin_timeout=0 >/dev/null 2>&1
	wait
}

unmount() {
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
}

make_null remote behind 8
make_null C local 24
make_null stranger stranger 8
make_null small small 4
mkdir "$TMPDIR/mnt"
at_exit rmdir "$TMPDIR/mnt"
O=$(remote_up 0 "$remote") || fail "no remote volume"
at_exit remote_down
at_exit dm_gone nc
at_exit unmount
at_exit stop_reader
generation=1
behind 1

# --- read-only: warm ---

good create nc --origin "$O" --cache "$C" --block-size 64K --origin-timeout 600
check
settle
bad 5 "'$O' of 'nc' is still connected" attach nc --origin "$stranger"
bad 5 "has this origin already" attach nc --origin "$O"
bad 1 "attach the origin first" attach nc --origin "$O" --cache "$C"
bad 1 "--on-change 'trust'" attach nc --origin "$O" --on-change=trust
gone
good status nc
[[ $out == *'origin gone'*"'nearcache attach nc'"* ]] || fail "status: $out"
good status nc -j
expect origin_gone true
refused 4 "no device here is the origin 'wwid:uuid.$REMOTE_UUID'" attach nc
refused 4 "/dev/nowhere" attach nc --origin /dev/nowhere
refused 4 "'$stranger' is '', the origin of 'nc' is 'wwid:uuid.$REMOTE_UUID': if you know that it is the same volume, use --force" attach nc --origin "$stranger"
refused 4 "'$small' has 4194304 bytes, device 'nc' has 8388608" attach nc --origin "$small" --force
refused 4 "shares storage with the cache device" attach nc --origin "$C" --force
mkfs.ext4 -qF "$stranger" 2>/dev/null
mount "$stranger" "$TMPDIR/mnt"
refused 5 "'$stranger' is in use" attach nc --origin "$stranger" --force
umount "$TMPDIR/mnt"
O=$(remote_connect)
good attach nc --origin "$O" --dry-run -j
expect dry_run true origin "$O"
waiting || fail "a dry run takes it"
warm=$(field bytes_valid)
good attach nc --origin "$O" -j
json_keys name mode origin origin_before changed reads_waiting state content bytes_valid started dry_run
expect origin "$O" mode read-only state normal content warm changed null
(($(json bytes_valid) >= warm && $(json reads_waiting) > 0)) || fail "attach: $out"
answered
good status nc -j
expect origin_gone false origin "$O"
[[ $(dmsetup table nc) == *' origin_timeout 600' ]] || fail "table: $(dmsetup table nc)"

# --- changed by another host meanwhile: dropped, or refused ---

gone 2
behind 2
generation=2
O=$(remote_connect)
refused 4 "was changed while it was disconnected" attach nc --on-change=refuse
# attach must find the volume by its identity alone.
good attach nc
[[ $out == *'dropped: the origin was changed'* ]] || fail "attach: $out"
answered
good close nc
good open nc --cache "$C" --origin-timeout 600 -j
expect content warm loaded warm
check -g 2

# --- the kernel refuses the new origin: it cannot be read ---

gone
O=$(remote_connect)
rc=0
type -P strace >/dev/null && {
	strace -qq -o "$TMPDIR/trace" -e trace=ioctl -e inject=ioctl:error=EIO:when=3+ \
		nearcache attach nc >"$TMPDIR/said" 2>&1 || rc=$?
	((rc)) || fail "no call fails: $(<"$TMPDIR/said")"
	waiting || fail "nothing waits any more"
}
good attach nc --origin "$O"
answered
good close nc

# --- under a writable file system ---

# Leave no deferred initialization that the kernel would write while the origin is gone.
mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 "$remote" 2>/dev/null
good create nc --cache "$C" --origin "$O" --force --mode writethrough --origin-timeout 600 --block-size 64K
mount /dev/mapper/nc "$TMPDIR/mnt"
head -c 2097152 /dev/urandom >"$TMPDIR/random"
cp "$TMPDIR/random" "$TMPDIR/mnt/before"
sync
remote_disconnect
echo 3 >/proc/sys/vm/drop_caches
sha256sum <"$TMPDIR/mnt/before" >"$TMPDIR/sum" &
reader=$!
O=$(remote_connect)
good attach nc -j
expect mode writethrough state normal origin "$O"
wait "$reader" || fail "a reader of the file failed"
same "the file" "$(<"$TMPDIR/sum")" "$(sha256sum <"$TMPDIR/random")"
cp "$TMPDIR/random" "$TMPDIR/mnt/after"
sync
echo 3 >/proc/sys/vm/drop_caches
cmp "$TMPDIR/random" "$TMPDIR/mnt/after" || fail "what was written since"
umount "$TMPDIR/mnt"
e2fsck -fn /dev/mapper/nc >"$TMPDIR/fsck" 2>&1 || fail "fsck: $(<"$TMPDIR/fsck")"
cmp /dev/mapper/nc "$remote" || fail "cache and origin differ"
good close nc
good open nc --cache "$C" -j
expect loaded warm content warm
cmp /dev/mapper/nc "$remote" || fail "cache and origin differ"
good close nc
