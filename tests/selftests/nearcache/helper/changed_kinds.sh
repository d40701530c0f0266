#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each kind of content is changed in each way while the cache is closed. The table below says which
# changes the fingerprints alone notice. open must name the others as not noticed, and a sample of
# all cached blocks must find them. After each change the volume is set back, and then the cache must match again.
# when: soak
# kernels: 6.12
# timeout: 1500
# cpus: 1
. ./cache.sh
. ./command.sh

# KIND PLACE CHANGE...: + before a change: a fingerprint notices it; -: only a sample does; =: the
# content is unchanged. The places are the whole device, the logical partition of an MBR, and a GPT
# partition.
table='
btrfs whole +file +attributes +crash +format +older -block =read
ext4 whole +file +attributes +crash +format +older +replay -block =read
erofs gpt +format -block =read
ext4 logical +file +format +replay +partition -block =read
xfs gpt +file +format +replay -block =read
xfs_log whole +file +format +older -block
btrfs gpt +file +format +older -block =read
ext4_no_journal whole +file +attributes +format +older +replay -block =read
ext2 whole +file +format +replay -block =read
erofs whole +format -block =read
raw whole +start +btrfs +ext4 -block
luks_over_ext4 whole -block +start
xfs whole +file +attributes +crash +format +older +replay -block =read
'
uuid=6f1b1c6e-5a1f-4b55-8f34-3f1d2f1f7a11
export TEST_DIR=/ TEST_DEV=/ QA_CHECK_FS=1 # XFS smaller than 300 MiB

unmount() {
	! grep -q " $TMPDIR/mnt " /proc/mounts || umount "$TMPDIR/mnt"
}

# volume: the place of the content, as dm device "part".
volume() {
	local start=0 sectors=$((60 << 11))
	case $place in
	gpt) start=2048 ;;
	logical) start=4096 ;;
	esac
	dm_gone part
	dm_create part "0 $sectors linear $O $start" >/dev/null || fail "no volume"
}

# layout SECTORS: write the partition table of $place.
layout() {
	case $place in
	gpt) ./partition_table gpt "$O" 2048 "$1" ;;
	logical)
		dm_create extended "0 $((62 << 11)) linear $O 2048" >/dev/null
		./partition_table mbr /dev/mapper/extended 2048 "$1"
		dm_gone extended
		./partition_table mbr "$O" 2048 $((62 << 11))
		printf '\5' | dd of="$O" bs=1 seek=450 conv=notrunc,fsync 2>/dev/null
		;;
	esac
}

# mounted OPTIONS COMMAND...: run the command in the file system.
mounted() {
	local options=$1
	[[ $kind != xfs_log ]] || options+=,logdev=$L
	volume
	mount -t "${kind%%_*}" -o "$options" /dev/mapper/part "$TMPDIR/mnt" || fail "$kind: no mount"
	(cd "$TMPDIR/mnt" && "${@:2}") || fail "$kind: ${*:2}"
	umount "$TMPDIR/mnt" || fail "$kind: umount"
	dm_gone part
}

# content WORD: 1 MiB of file data.
content() {
	yes "$1" | tr '\n' '\0' | head -c 1048576
}

write_file() {
	content "$1" | dd of="$2" bs=64K conv=notrunc,fsync 2>/dev/null
}

format() {
	volume
	case $kind in
	ext4) mkfs.ext4 -qF -U $uuid -L data /dev/mapper/part ;;
	ext4_no_journal) mkfs.ext4 -qF -O ^has_journal -U $uuid -L data /dev/mapper/part ;;
	ext2) mkfs.ext4 -t ext2 -qF -U $uuid -L data /dev/mapper/part ;;
	xfs) mkfs.xfs -qf -m uuid=$uuid -L data /dev/mapper/part ;;
	xfs_log) mkfs.xfs -qf -m uuid=$uuid -l "logdev=$L,size=8m" /dev/mapper/part ;;
	btrfs) mkfs.btrfs -qf -m single -U "$(</proc/sys/kernel/random/uuid)" -L data /dev/mapper/part ;;
	erofs)
		rm -rf "$TMPDIR/tree" "$TMPDIR/image"
		mkdir "$TMPDIR/tree"
		write_file "$1" "$TMPDIR/tree/file"
		mkfs.erofs -U $uuid "$TMPDIR/image" "$TMPDIR/tree"
		dd if="$TMPDIR/image" of=/dev/mapper/part bs=64K conv=fsync
		;;
	luks_over_ext4)
		mkfs.ext4 -qF /dev/mapper/part
		printf 'LUKS\272\276\0\1' | dd of=/dev/mapper/part conv=notrunc,fsync
		content "$1" | dd of=/dev/mapper/part bs=1M seek=30 conv=notrunc,fsync
		;;
	raw) content "$1" | dd of=/dev/mapper/part bs=1M seek=30 conv=notrunc,fsync ;;
	esac >"$TMPDIR/mkfs" 2>&1 || fail "$kind: $(<"$TMPDIR/mkfs")"
	dm_gone part
	case $kind in
	erofs | luks* | raw) ;;
	*) mounted rw write_file "$1" file ;;
	esac
}

# snapshot FILE, restore FILE: of the whole device.
snapshot() {
	dd if="$O" of="$TMPDIR/$1" bs=1M iflag=direct 2>/dev/null || fail "no snapshot"
}

restore() {
	dd if="$TMPDIR/$1" of="$O" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "not restored"
	[[ $kind != xfs_log ]] || dd if="$TMPDIR/log.$1" of="$L" bs=1M oflag=direct conv=notrunc 2>/dev/null
}

log_snapshot() {
	[[ $kind != xfs_log ]] || dd if="$L" of="$TMPDIR/log.$1" bs=1M 2>/dev/null
}

# The changes.
change_file() { mounted rw write_file other file; }
change_attributes() { mounted rw touch file; }
change_read() {
	local options=ro
	[[ $kind != xfs ]] || options=ro,norecovery
	mounted "$options" cat file >/dev/null
}
change_format() { format other; }
change_older() { restore older; }
# The same commands as those that led to the present state, with other data.
change_replay() {
	restore older
	mounted rw write_file third file
}
# The other host has written, and still has the file system mounted.
change_crash() {
	volume
	mount -t "${kind%%_*}" /dev/mapper/part "$TMPDIR/mnt" || fail "$kind: no mount"
	write_file other "$TMPDIR/mnt/file"
	sync
	snapshot crash
	umount "$TMPDIR/mnt"
	dm_gone part
	restore crash
}
change_partition() { layout $((50 << 11)); }
change_start() { printf 'start' | dd of="$O" bs=1 seek=70 conv=notrunc,fsync 2>/dev/null; }
# One block of file data, below the file system, where EROFS has none of its fingerprint's samples.
change_block() {
	local at
	at=$(strings -n 6 -t d "$O" | grep ' second$' | sed -n '9500{s/^ *\([0-9]*\) .*/\1/p;q}')
	[[ $at ]] || fail "$kind: the file's data is nowhere"
	printf 'other' | dd of="$O" bs=1 seek="$at" conv=notrunc,fsync 2>/dev/null
}
change_btrfs() {
	volume
	mkfs.btrfs -qfK -m single /dev/mapper/part >/dev/null 2>&1 || fail "mkfs.btrfs"
	dm_gone part
}
change_ext4() {
	volume
	mkfs.ext4 -qF -E nodiscard /dev/mapper/part >/dev/null 2>&1 || fail "mkfs.ext4"
	dm_gone part
}

# verdict EXPECTED CHANGE: what a dry run says with the fingerprints alone, and with the sample.
verdict() {
	local found
	run open nc --cache "$C" --origin "$O" --compare-at-open 0 --dry-run -j
	case $rc:$(json content) in
	4:*) found=+ ;;
	0:warm) found=- ;;
	*) fail "$kind $place $2: exit $rc, $err $out" ;;
	esac
	[[ $found != - || $1 == = || $out == *'"not_noticed": "'* ]] || found="- (not named)"
	if [[ $found == -* ]]; then
		run open nc --cache "$C" --origin "$O" --compare-at-open 512M --dry-run -j
		[[ $1 == = ]] && ((!rc)) && found="="
		[[ $1 == = || $rc == 4 ]] || found+=" (not in the sample)"
	fi
	echo "# $kind $place $2: $found (expected $1)"
	[[ $found == "$1" ]] || wrong+=" $kind/$place/$2:$found"
}

mkdir "$TMPDIR/mnt"
make_null C local 96
make_null O origin 64
make_null L log 16
at_exit dm_gone nc
at_exit dm_gone part
at_exit unmount
type -P mkfs.xfs mkfs.btrfs mkfs.erofs >/dev/null || skip "no xfsprogs, btrfs-progs or erofs-utils"
wrong=
while read -r kind place changes; do
	[[ $kind ]] || continue
	dd if=/dev/zero of="$O" bs=1M oflag=direct 2>/dev/null
	layout $((60 << 11))
	format first
	snapshot older
	log_snapshot older
	case $kind in
	erofs | luks* | raw) format second ;;
	*) mounted rw write_file second file ;;
	esac
	snapshot now
	log_snapshot now
	good create nc --origin "$O" --cache "$C" --block-size 64K --force -j
	cat /dev/mapper/nc >/dev/null
	settle
	good close nc
	for change in $changes; do
		change_"${change:1}"
		verdict "${change:0:1}" "${change:1}"
		restore now
		run open nc --cache "$C" --origin "$O" --compare-at-open 0 --dry-run -j
		[[ $rc == 0 ]] || fail "$kind $place: after ${change:1}, the state of before is no change: exit $rc, $err"
	done
	# What open serves after the last change is the origin's data.
	change_"${changes##* ?}"
	good open nc --cache "$C" --origin "$O" --compare-at-open 512M --on-change=drop
	cmp /dev/mapper/nc "$O" || fail "$kind $place: old data"
	good close nc
done <<<"$table"
[[ ! $wrong ]] || fail "not as in the table:$wrong"
