#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Before it serves cached data, open compares a sample with the origin. On a volume in which nothing is
# recognised only the sample shows that another host overwrote a cached block. Regions that were being
# written at a crash, and damage that checksums show, are no change.
# kernels: 6.12
# timeout: 400
# cpus: 1
. ./cache.sh
. ./command.sh
no_settings

# changed BYTE: another host overwrites 512 bytes. put_back: undo it.
changed() {
	dd if="$O" of="$TMPDIR/before" bs=512 count=1 skip=$(($1 / 512)) iflag=direct 2>/dev/null
	at=$1
	head -c 512 /dev/urandom | dd of="$O" bs=512 count=1 seek=$(($1 / 512)) conv=notrunc,fsync 2>/dev/null
}

put_back() {
	dd if="$TMPDIR/before" of="$O" bs=512 count=1 seek=$((at / 512)) conv=notrunc,fsync 2>/dev/null
}

# warm BYTES [SIZE]: open with a sample of SIZE must compare BYTES and find no change.
warm() {
	good open nc --cache "$C" --origin "$O" -j --compare-at-open "${2:-64M}"
	expect content warm changed null sampled "$1"
}

# told BYTE: open must report a difference near BYTE.
told() {
	bad 4 "the cached data near byte $1 differs from it" open nc --cache "$C" --origin "$O" --compare-at-open 64M
}

make_null O origin 16
make_null C local 24
make_null C2 second 24
make_null W witness 8
at_exit dm_gone nc
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K --force
[[ $out == *"not noticed"*"nothing on the origin is recognised"* ]] || fail "create: $out"
# The first 12 MiB are cached.
check -n 24576
good close nc
good open nc --cache "$C" --origin "$O" -j --dry-run
(($(json sampled) > 0)) || fail "nothing is compared: $out"
warm $((12 << 20))
[[ $out == *'"not_noticed": "writes by others while it is closed, except in the first and last 64 KiB and in'* ]] ||
	fail "open: $out"
good close nc
changed $((5 << 20))
told $((5 << 20))
[[ $out$err == *"--on-change=drop"* ]] || fail "no advice: $err"
good open nc --cache "$C" --origin "$O" --on-change=trust --compare-at-open 64M
[[ $out == *"trusted, though the origin's content was changed"* ]] || fail "open: $out"
good close nc
told $((5 << 20))
# Switched off, and a sample that is too small to find it.
warm 0 0
good close nc
good open nc --cache "$C" --origin "$O" --compare-at-open 64K --dry-run -j
expect sampled 65536
bad 1 "--compare-at-open '68719476737': give 0 to 64G" open nc --cache "$C" --compare-at-open 68719476737
bad 1 "--compare-at-open 'x': a size starts with a digit" open nc --cache "$C" --compare-at-open x
good open nc --cache "$C" --origin "$O" --on-change=drop --compare-at-open 64M -j
expect content dropped changed content
check -s 16384 -n 4096
good close nc
warm $((2 << 20))
good close nc
# Data that is not cached.
changed $((14 << 20))
warm $((2 << 20))
cmp /dev/mapper/nc "$O" || fail "old data"
good close nc

# --- several cache devices, and checksums ---

put_back
good create nc --origin "$O" --cache "$C" --cache "$C2" --block-size 64K --integrity crc32c --force
put_back
cat /dev/mapper/nc >/dev/null
settle
good close nc
warm $((16 << 20))
good close nc
good super "$C" -j
offset=$(json data_offset)
head -c 4096 /dev/urandom | dd of="$C" bs=4096 seek=$((offset / 4096 + 48)) conv=notrunc,fsync 2>/dev/null
warm $((16 << 20))
cmp /dev/mapper/nc "$O" || fail "wrong data"
good close nc
for place in 1 2; do
	changed $(((place * 64 + 4096) * 1024))
	told $(((place * 64 + 4096) * 1024))
	put_back
done
warm $((16 << 20))
good close nc

# --- a crash of a writing mode ---

./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K --mode writethrough --witness "$W" --force
check
settle
written_down
./blockdata write /dev/mapper/nc -s 8192 -n 64 -g 2
for dev in "$C" "$W"; do
	dd if="$dev" of="$TMPDIR/${dev##*/}" bs=1M iflag=direct 2>/dev/null || fail "dd"
done
# Writes that the cache device did not record before the power cut.
./blockdata write /dev/mapper/nc -s 8192 -n 64 -g 3
good close nc
for what in clean changed; do
	for dev in "$C" "$W"; do
		dd if="$TMPDIR/${dev##*/}" of="$dev" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "dd"
	done
	if [[ $what == clean ]]; then
		good open nc --cache "$C" --origin "$O" --mode writethrough --compare-at-open 64M -j
		expect content warm changed null sampled $((15 << 20))
		./blockdata read /dev/mapper/nc -s 8192 -n 64 -g 3 >/dev/null || fail "old data"
		good close nc
		changed $((9 << 20))
	else
		told $((9 << 20))
	fi
done
