#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The settings of a cache are remembered for its next open: those of create, set and open. Options of
# a command override a line of nearcachetab, and the line overrides remembered settings. --forget drops
# them.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

SETTINGS=/var/lib/nearcache/settings

# table WORDS: the table of nc must have this mode and these options, in the order of the table.
table() {
	local now
	now=$(dmsetup table nc)
	[[ $now == *" nearcache $1"* && $now == *"${2:+ $2}" ]] || fail "table is $now, not $* (line ${BASH_LINENO[0]})"
}

again() {
	good close nc
	good open nc --cache "$C" --origin "$O" -j "$@"
}

# lines COUNT TEXT: the file of the cache must have COUNT lines, and the line TEXT.
lines() {
	[[ $(wc -l <"$file") == "$1" ]] || fail "not $1 lines: $(<"$file")"
	grep -qxF -- "$2" "$file" || fail "no '$2': $(<"$file")"
}

warned() {
	run "${@:2}"
	[[ $rc == 0 && $err == *"warning: "*"$1"* ]] || fail "nearcache ${*:2}: exit $rc, no '$1' in '$err'"
}

read_ahead() {
	cat "$(sys_block /dev/mapper/nc)/queue/read_ahead_kb"
}

make_null O origin 16
make_null C local 24
make_null W witness 1
make_null V other 1
./blockdata write "$O"
at_exit dm_gone nc
at_exit rm -rf "$SETTINGS"
rm -rf "$SETTINGS"

# The next open uses the settings of create and set, and prints them in one line.
good create nc --origin "$O" --cache "$C" --block-size 64K --mode writearound --witness "$W" --cache-timeout 900
file=$(echo "$SETTINGS"/*)
same mode "$(stat -c %a "$file")" 600
good set nc fill_memory=8M origin_timeout=30 verify=100 read_ahead=2M
again
table writearound "fill_memory 8388608 cache_timeout 900 origin_timeout 30 verify 100 witness $(number "$W")"
same read-ahead "$(read_ahead)" 2048
expect mode writearound witness "$W" \
	remembered 'mode=writearound fill_memory=8388608 cache_timeout=900 origin_timeout=30 verify=100 read_ahead=2097152'
good close nc
good open nc --cache "$C" --origin "$O"
[[ $out == *remembered*'mode=writearound, fill_memory=8 MiB, cache_timeout=900 ms'* ]] || fail "open: $out"

# Options of a command override a line of nearcachetab and are remembered; those of the line are not.
again --verify 7 --read-only
table read-only 'verify 7 witness '"$(number "$W")"
expect remembered 'fill_memory=8388608 cache_timeout=900 origin_timeout=30 read_ahead=2097152'
good close nc
echo "nc $O $C mode=writethrough,cache-timeout=800" >"$TMPDIR/tab"
good open nc --tab "$TMPDIR/tab" -j
table writethrough "cache_timeout 800 origin_timeout 30 verify 7 witness $(number "$W")"
good close nc
good open nc --tab "$TMPDIR/tab" --mode writearound
table writearound
good close nc
echo "nc $O $C" >"$TMPDIR/tab"
good open nc --tab "$TMPDIR/tab"
table writearound "fill_memory 8388608 cache_timeout 900 origin_timeout 30 verify 7 witness $(number "$W")"

# A dry run and options that hold for one open leave the file as it is.
before=$(<"$file")
good set nc verify=1 --dry-run
good close nc
good open nc --cache "$C" --origin "$O" --dry-run --mode read-only
good open nc --cache "$C" --origin "$O" --compare-at-open 0 --on-change refuse
same file "$(<"$file")" "$before"
# Two commands at once lose nothing.
for ((i = 0; i < 5; i++)); do
	nearcache set nc "verify=$i" >/dev/null &
	nearcache set nc "cache_timeout=50$i" >/dev/null || fail "set"
	wait $! || fail "set"
	lines 7 "verify=$i"
	lines 7 "cache_timeout=50$i"
done

# A mode that the origin does not allow is refused, with the reason.
good close nc
blockdev --setro "$O"
bad 4 "mode writearound is remembered from an earlier command: --mode gives another one, --forget drops it" \
	open nc --cache "$C" --origin "$O"
blockdev --setrw "$O"

# A file that cannot be read is refused by name and line; --forget drops it.
echo 'verify=x' >"$file"
bad 4 "'$file' line 1: 'verify=x': give 0 (none) to 4294967295 hits: correct this line or remove it" \
	open nc --cache "$C" --origin "$O"
warned "opened without the remembered settings, read-only" open nc --tab "$TMPDIR/tab"
table read-only "2 witness $(number "$W")"
good close nc
good open nc --cache "$C" --origin "$O" --forget --cache-timeout 600 -j
expect mode read-only witness null forgotten null
table read-only 'cache_timeout 600'
lines 2 cache_timeout=600
again --forget
expect mode read-only forgotten 'cache_timeout=600' remembered null
table read-only "$(number "$C")"
[[ ! -e $file ]] || fail "it is still there: $(<"$file")"

# A witness that set chose is used if the device ended without close, which writes it to the superblock.
good set nc mode=writethrough witness="$V"
lines 4 "witness=$V"
dmsetup remove nc || fail "remove"
good super "$C" -j
expect witness ''
good open nc --cache "$C" --origin "$O" -j
expect witness "$V" mode writethrough content warm remembered "mode=writethrough witness=$V"
lines 2 mode=writethrough
# Another device has the name of the witness, or the witness is gone: the cache is opened without it.
good set nc witness="$W"
dmsetup remove nc || fail "remove"
dd if=/dev/zero of="$W" bs=4096 count=1 oflag=direct 2>/dev/null
warned "'$W', which 'nearcache set' chose for this cache, has no record of it" \
	open nc --cache "$C" --origin "$O" --dry-run
sed -i 's|^witness=.*|witness=/dev/nowhere|' "$file"
warned "'nearcache set' chose it, and --forget drops it; opened without the witness" \
	open nc --cache "$C" --origin "$O" --dry-run
good open nc --cache "$C" --origin "$O" --witness "$V" --mode writethrough

# A file system that cannot be written: a warning, and the command goes on.
again
mkdir "$TMPDIR/ro"
mount --bind "$SETTINGS" "$SETTINGS" && mount -o remount,ro,bind "$SETTINGS" || fail "mount"
at_exit umount -q "$SETTINGS"
before=$(<"$file")
warned 'are not remembered, and last until it is closed' set nc verify=9
table writethrough "verify 9 witness $(number "$V")"
umount "$SETTINGS"
same file "$(<"$file")" "$before"
again
table writethrough "witness $(number "$V")"

# The cache goes to another node, which has no file: defaults, and the witness of the superblock.
mv "$SETTINGS" "$TMPDIR/here"
again
expect mode read-only remembered null witness "$V"
good close nc
rm -rf "$SETTINGS"
mv "$TMPDIR/here" "$SETTINGS"

# A new cache on the device has no settings of the old one. destroy removes the file, a failed create
# leaves none.
good create nc --origin "$O" --cache "$C" --force --verify 3
same files "$(find "$SETTINGS" -type f | wc -l)" 2
again
table read-only 'verify 3'
good close nc
good create nc --origin "$O" --cache "$C" --force --format-only --mode writearound
good open nc --cache "$C" --origin "$O"
table writearound
good destroy nc
same files "$(find "$SETTINGS" -type f | wc -l)" 2
