#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The modes in the commands: create, open, and 'set' on a device in use. 'set' must refuse to lose
# writes of users, and nc must continue as before if the new table does not start.
# kernels: 6.1
# timeout: 500
# cpus: 1
. ./cache.sh
. ./command.sh

# mode_is MODE: fail unless table and status have this mode, and the device its read-only flag.
mode_is() {
	local ro=0 now
	[[ $1 != read-only ]] || ro=1
	now=$(dmsetup table nc)
	[[ $now == *" nearcache $1 "* ]] || fail "table is $now, not $1 (line ${BASH_LINENO[0]})"
	now=$(<"$(sys_block /dev/mapper/nc)/ro")
	[[ $now == "$ro" ]] || fail "read-only is $now in mode $1"
	now=$(dmsetup info -c --noheadings -o suspended,tables_loaded nc)
	[[ $now == Active:Live ]] || fail "device is $now in mode $1"
}

# set_mode MODE: change the mode of the device in use; cached data and all options must stay.
set_mode() {
	local valid ahead
	valid=$(field bytes_valid)
	good set nc "mode=$1" -j
	expect changed true mode "$1" fill_memory 8388608
	mode_is "$1"
	# Reads may have cached more meanwhile, but nothing may be lost.
	(($(field bytes_valid) >= valid)) || fail "valid: $valid, then $(field bytes_valid)"
	ahead=$(<"$(sys_block /dev/mapper/nc)/queue/read_ahead_kb")
	[[ $ahead == 24 ]] || fail "read-ahead is $ahead KiB"
}

unmount() {
	umount "$TMPDIR/a dir" 2>/dev/null || true
}

stop_elsewhere() {
	kill "$elsewhere" 2>/dev/null || return 0
	wait "$elsewhere" || true
}

# weak TARGET...: replace the device below the cache device.
weak() {
	dmsetup load weak --table "0 $(sectors "$C") $*" && dmsetup resume weak
}

create() {
	good create nc --origin "$O" --cache "$C" --block-size 64K --fill-memory 8M --force "$@"
}

make_null O origin 16
make_null C local 24
./blockdata write "$O"
at_exit dm_gone nc

# --- create and open ---

bad 1 "--mode 'writeback', --rate, --max-behind, --on-full, --reserve and --preempt need --stage DEV" create nc --origin "$O" --cache "$C" --mode writeback
bad 1 '--read-only contradicts --mode writethrough' create nc --origin "$O" --cache "$C" --mode writethrough --read-only
create --mode writethrough -j
expect mode writethrough
mode_is writethrough
good status nc -j
expect mode writethrough read_only false write_bytes 0
good list
[[ $out == *writethrough* ]] || fail "list: $out"
good stats nc -j
expect mode writethrough writes 0
./blockdata write /dev/mapper/nc -g 1 -n 2048
settle
good status nc -j
expect write_bytes 1048576 bytes_valid 1048576 read_bytes 0 hit_ratio null
./blockdata read "$O" >/dev/null || fail "the origin has not what was written"
check -n 2048
good status nc -j
expect read_bytes 1048576 hit_ratio 1
good status nc
[[ $out == *'bytes written'*'1 MiB'* ]] || fail "status: $out"
# Another cache on this origin would not see the writes.
make_null second second 24
bad 5 "written by device 'nc' (mode writethrough)" create other --origin "$O" --cache "$second"
good close nc
good open nc --cache "$C" --origin "$O" --read-only
mode_is read-only
good create other --origin "$O" --cache "$second"
at_exit dm_gone other
bad 5 "is also cached by device 'other'" set nc mode=writearound
good close nc
bad 5 "is also cached by device 'other'" open nc --cache "$C" --origin "$O" --mode writearound
good destroy other
good open nc --cache "$C" --origin "$O" --mode writearound --fill-memory 8M
mode_is writearound
good close nc
# The command itself must refuse, and name the device, before the kernel does.
blockdev --setro "$O"
bad 4 "origin '$O' is read-only" open nc --cache "$C" --origin "$O" --mode writethrough
good open nc --cache "$C" --origin "$O" --read-only --fill-memory 8M
bad 4 "origin '$O' is read-only" set nc mode=writethrough
blockdev --setrw "$O"
mode_is read-only

# --- set ---

bad 1 "NAME" set
bad 1 "SETTING=VALUE" set nc
bad 4 "no device 'nobody'" set nobody mode=read-only
bad 1 "'mode' is not a setting" set nc mode
bad 1 "'block_size' is not a setting" set nc block_size=1M
bad 1 "mode 'writeback': give read-only" set nc mode=writeback
bad 1 "mode 'writeback': give read-only" set nobody mode=writeback
bad 1 "twice" set nc mode=read-only mode=read-only
bad 1 "fill_memory '1K': give auto, or 1M to 1T" set nc fill_memory=1K
good set nc mode=read-only
[[ $out == *'unchanged'*'were set already'* ]] || fail "set to what it is: $out"
good set nc mode=read-only fill_memory=8388608 -j
json_keys name changed mode mode_before fill_memory fill_memory_before fill_memory_auto started dry_run
expect changed false mode read-only mode_before read-only
good set nc mode=writethrough --dry-run
[[ $out == *writethrough*read-only*'dry run'* ]] || fail "dry run: $out"
mode_is read-only

# Change the mode under load, from each to each; readers must always see the same data.
blockdev --setra 48 /dev/mapper/nc
check
settle
verify_begin -b 1:64 -r 200
for mode in writearound writethrough read-only writethrough writearound read-only writearound; do
	set_mode "$mode"
done
# A writer that rewrites the existing data.
writer() {
	while [[ ! -e $TMPDIR/writer-stop ]]; do
		./blockdata write /dev/mapper/nc -s 4096 -n 4096 || return
	done
}
writer &
writer_pid=$!
for mode in writethrough writearound; do
	good set nc "mode=$mode"
	mode_is "$mode"
done
exec 7<>/dev/mapper/nc
bad 5 "open for writing by process" set nc mode=read-only
exec 7>&-
touch "$TMPDIR/writer-stop"
wait "$writer_pid" || fail "a write failed"
set_mode read-only
verify_end
check
good set nc fill_memory=32M -j
expect changed true fill_memory 33554432 fill_memory_before 8388608 mode read-only
is fill_memory_max 33554432
good set nc fill_memory=auto -j
expect changed true fill_memory 67108864 fill_memory_before 33554432 fill_memory_auto true
[[ $(dmsetup table nc) != *fill_memory* ]] || fail "the table keeps fill_memory: $(dmsetup table nc)"
good set nc fill_memory=64M -j
expect changed true fill_memory 67108864 fill_memory_auto false
good set nc mode=writethrough fill_memory=8M
set_mode writearound

# --- users whose writes would be lost ---

mkfs.ext4 -q /dev/mapper/nc
mkdir "$TMPDIR/a dir"
at_exit unmount
mount /dev/mapper/nc "$TMPDIR/a dir"
bad 5 "mounted read-write on '$TMPDIR/a dir'" set nc mode=read-only
[[ $out == *'--force'* ]] || fail "no word of --force: $out"
mode_is writearound
mount -o remount,ro "$TMPDIR/a dir"
set_mode read-only
good set nc mode=writethrough
mount -o remount,rw "$TMPDIR/a dir"
dd if=/dev/urandom of="$TMPDIR/a dir/file" bs=1M count=2 2>/dev/null
good set nc mode=writearound
good set nc mode=read-only --force
mode_is read-only
! dd if=/dev/zero of="$TMPDIR/a dir/other" bs=1M count=1 conv=fsync 2>/dev/null || fail "written to a read-only device"
umount "$TMPDIR/a dir"
good set nc mode=writethrough
mkswap /dev/mapper/nc >/dev/null
swapon /dev/mapper/nc
bad 5 "in use as swap" set nc mode=read-only
swapoff /dev/mapper/nc
make_dm upper upper "0 2048 linear /dev/mapper/nc 0"
bad 5 "below the device 'dm-" set nc mode=read-only
dm_remove upper
modprobe loop
loop=$(losetup -f --show /dev/mapper/nc) || fail "losetup"
at_exit losetup -D
bad 5 "it is unknown whether for writing" set nc mode=read-only
# A second, read-only user does not make the loop device harmless.
exec 7</dev/mapper/nc
bad 5 "open 2 times, and it is unknown whether for writing" set nc mode=read-only
losetup -d "$loop"
good set nc mode=read-only
exec 7<&-
good set nc mode=writethrough

# Mounted in another mount namespace.
mkfs.ext4 -qF /dev/mapper/nc
busybox unshare -m sh -c 'mount /dev/mapper/nc "$1" && touch "$2" && exec sleep 600' \
	sh "$TMPDIR/a dir" "$TMPDIR/mounted" &
elsewhere=$!
at_exit stop_elsewhere
wait_for 10 test -e "$TMPDIR/mounted" || fail "no mount in another namespace"
! grep -q "$TMPDIR/a" /proc/self/mounts || fail "the mount is seen here, too"
bad 5 "mounted read-write on '$TMPDIR/a dir'" set nc mode=read-only
bad 5 "mounted on $TMPDIR/a dir" close nc
stop_elsewhere
good set nc mode=read-only

# A device stacked on the origin may write to the origin: refused, as at open.
make_dm foreign foreign "0 2048 linear $O 0"
bad 5 "in use by 'dm-" set nc mode=writethrough
mode_is read-only
dm_remove foreign

# --- suspended ---

dmsetup suspend nc
bad 5 "'dmsetup resume nc'" set nc mode=writethrough
good set nc mode=writethrough --force --dry-run -j
expect changed false started false
good set nc mode=writethrough --force -j
expect changed true started true
mode_is writethrough
# "set" resumes the device even if no setting changes.
dmsetup suspend nc
good set nc mode=writethrough --force
[[ $out == *unchanged*'were set already'*started*'was suspended'* ]] || fail "set: $out"
mode_is writethrough
good set nc mode=read-only -j
expect changed true started false

# --- two commands at once ---

# Parallel changes must wait for each other, and no setting may be lost.
for ((i = 0; i < $(times 3); i++)); do
	good set nc mode=read-only fill_memory=8M
	pids=()
	for words in 'set nc mode=writethrough' 'set nc fill_memory=16M' 'resize nc'; do
		# shellcheck disable=SC2086 # words
		nearcache $words >/dev/null &
		pids+=("$!")
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "a change failed beside others"
	done
	mode_is writethrough
	is fill_memory_max 16777216
done
# One change blocks because no process reads its output. A signal must stop a change that waits for
# it. Commands that only read, or are for another device, must not wait.
busybox mkfifo "$TMPDIR/full"
exec 8<>"$TMPDIR/full"
head -c 65536 /dev/zero >&8
nearcache set nc fill_memory=16M >&8 &
pid=$!
wait_for 10 grep -q OFDLCK /proc/locks || fail "no lock"
rc=0
timeout 1 nearcache set nc fill_memory=8M || rc=$?
((rc)) || fail "no wait for the one that is not done"
good status nc -j
expect fill_memory_max 16777216
bad 4 "no device 'nobody'" set nobody fill_memory=8M
head -c 65536 <&8 >/dev/null
wait "$pid" || fail "the first one failed"
exec 8>&-
good set nc fill_memory=8M mode=read-only
good close nc

# --- tables that do not start ---

# The cache device cannot record the start of a writing mode.
make_dm weak weak "0 $(sectors "$C") linear $C 0"
at_exit dm_gone nc
./blockdata write "$O"
good create nc --cache "$weak" --origin "$O" --force
check
settle
dmsetup suspend nc
weak "flakey $C 0 0 60 1 error_writes"
bad 4 "goes on with its old table" set nc mode=writethrough --force
[[ $out == *'kernel log says: device-mapper'* ]] || fail "no reason: $out"
mode_is read-only
good status nc -j
expect state bypass
check
weak "linear $C 0"
good close nc

# The cache device fails during the change: the new table does not start, nor can the old one start
# again. The advice that the command prints must help.
good open nc --cache "$weak" --origin "$O" --mode writethrough
check
settle
# Commit all, so that the next stop writes only the superblock.
dmsetup suspend nc
dmsetup resume nc
end=$(($(sectors "$C") - 16))
dmsetup load weak <<<"0 8 linear $C 0
8 8 error
16 $end linear $C 16"
dmsetup resume weak
run set nc fill_memory=32M
[[ $rc == 4 && $err == *"'nearcache set nc mode=read-only --force' starts it"* ]] || fail "set: exit $rc, $err"
[[ $(dmsetup info -c --noheadings -o suspended nc) == Suspended ]] || fail "the test has no point: the device runs"
bad 5 'is suspended' set nc fill_memory=32M
bad 4 "mode=read-only --force" set nc fill_memory=32M --force
good set nc mode=read-only --force
mode_is read-only
check
bad 4 'the superblock cannot be written' set nc mode=writethrough
mode_is read-only
weak "linear $C 0"
good close nc

# A start in bypass must print a warning.
weak "flakey $C 0 0 60 1 error_writes"
run open nc --cache "$weak" --origin "$O" -j
[[ $rc == 0 && $err == *"works without its cache"* ]] || fail "open: exit $rc, $err"
expect state bypass
good close nc
dm_remove weak

# In each run one system call of the change fails (every third) or gets a signal (every ninth); in
# 'make soak' each call.
if type -P strace >/dev/null; then
	create
	failed=0 step=1
	injected ioctl set nc mode=writethrough
	((!rc)) || fail "set in strace: $(<"$TMPDIR/said")"
	# strace counts the calls of each process separately.
	start=$(awk '$2 ~ /^ioctl\(/ { n[$1]++ } /DM_DEV_SUSPEND/ { print n[$1]; exit }' "$TMPDIR/trace")
	[[ $start ]] || fail "no start of a new table: $(<"$TMPDIR/trace")"
	good set nc mode=read-only
	for inject in error=EIO signal=SIGTERM; do
		((${SOAK:-0})) || step=$((step * 3))
		# Begin so that the steps hit the call that starts the new table.
		for ((n = 1 + (start - 1) % step; n < 40; n += step)); do
			injected "ioctl:$inject:when=$n" set nc mode=writethrough
			grep -qE 'INJECTED|SIGTERM' "$TMPDIR/trace" || break
			# After an error the old table must be live; a signal may come before or
			# after the change.
			if [[ $inject == error* ]] && ((rc)); then
				failed=$((failed + 1))
				[[ $(dmsetup table nc) == *' read-only '* || $(<"$TMPDIR/said") == *'new table was started'* ]] ||
					fail "ioctl $n fails: not the old table: $(<"$TMPDIR/said")"
			fi
			mode_is "$(dmsetup table nc | cut -d ' ' -f 4)"
			good set nc mode=read-only
		done
		good set nc mode=read-only
		[[ $n -gt 5 && $n -lt 40 ]] || fail "$inject: $n calls"
	done
	injected "ioctl:error=EIO:when=$start+" set nc mode=writethrough
	((rc)) || fail "set without a working ioctl"
	grep -q 'may be suspended' "$TMPDIR/said" || fail "no message: $(<"$TMPDIR/said")"
	good set nc mode=writethrough --force
	mode_is writethrough
	((failed >= 4)) || fail "only $failed calls failed"
	good close nc
fi
