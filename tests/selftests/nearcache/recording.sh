# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions that record the writes below a file system with checkpoints, for tests/crash/cuts: . ./recording.sh,
# after cache.sh. The drive $D has the origin, then the log (or cache device). Both are logged as
# devices of their own in one log: a flush of one makes no write to the other durable.
#
#	linear		control: no cache
#	dm-writecache, dm-cache, bcache		writeback; everything is written back as soon as possible
#	stage, stage-raid1	nearcache-stage, whose log may be a raid1 of two logged devices; it
#			divides most checkpoints into several epochs, and its drain is slower
#			than the program that writes them
#	stage-passes	nearcache-stage, which passes writes to the origin now and then
# shellcheck disable=SC2154 # the including script sets $D and the sizes

# recorded LOG: create $O and $C on the drive, slow and logged to LOG.
recorded() {
	dd if=/dev/zero of="$D" bs=1M oflag=direct count=$(((origin + 2 * log) / 2048)) 2>/dev/null || fail "dd"
	make_dm slow slow "0 $origin delay $D 0 0 $D 0 ${slow_ms:-4}"
	make_dm below below "0 $log linear $D $origin"
	make_dm O origin "0 $origin crash-log $slow $1 0 0"
	make_dm C log "0 $log crash-log $below $1 1 $origin"
	make_dm below below2 "0 $log linear $D $((origin + log))"
	make_dm mirror mirror "0 $log crash-log $below $1 2 $((origin + log))"
}

recorded_gone() {
	local name
	for name in mirror log origin below2 below slow; do
		dm_remove $name
	done
}

# make_fs FS DEV: create the file system with a folder "data".
make_fs() {
	case $1 in
	ext4) mkfs.ext4 -qF -b 4096 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$2" 2>/dev/null ;;
	xfs) mkfs.xfs --unsupported -qfK "$2" >/dev/null ;;
	btrfs) mkfs.btrfs -qfK --mixed "$2" >/dev/null ;;
	esac || fail "mkfs.$1"
	mount -t "$1" "$2" /mnt && mkdir /mnt/data && ./checkpoints begin /mnt/data && umount /mnt ||
		fail "no $1 on $2"
}

# recorded_up TARGET: create the target on $O and $C; set $device.
recorded_up() {
	local meta dir
	case $1 in
	linear) make_dm device target "0 $origin linear $O 0" ;;
	stage-raid1)
		modprobe dm-raid && make_dm C raid "0 $log raid raid1 2 0 nosync 2 - $C - $mirror" || fail "no raid1"
		recorded_up stage
		;;
	stage) make_dm device target "0 $origin nearcache-stage $C $O 4 max_behind 3145728 rate 8388608" ;;
	stage-passes)
		make_dm device target "0 $origin nearcache-stage $C $O 4 max_behind 1048576 on_full writethrough"
		;;
	dm-writecache)
		make_dm device target "0 $origin writecache s $O $C 4096 6 high_watermark 2 low_watermark 1 pause_writeback 0"
		;;
	dm-cache)
		make_null meta meta 4
		make_dm device target "0 $origin cache $meta $C $O 64 1 writeback smq 2 migration_threshold 131072"
		for _ in 1 2 3 4; do
			dd if="$device" of=/dev/null bs=32k iflag=direct 2>/dev/null
		done
		;;
	bcache)
		modprobe bcache && make-bcache -b 8k --writeback -B "$O" -C "$C" >/dev/null || fail "bcache"
		for dir in "$O" "$C"; do
			echo "$dir" >/sys/fs/bcache/register_quiet || fail "bcache refuses $dir"
		done
		wait_for 20 test -e /sys/block/bcache0/bcache/cache || fail "no bcache0"
		dir=/sys/block/bcache0/bcache
		for meta in sequential_cutoff cache/congested_read_threshold_us cache/congested_write_threshold_us \
			writeback_delay writeback_percent; do
			echo 0 >$dir/$meta
		done
		device=/dev/bcache0
		;;
	esac
}

recorded_down() {
	local set
	if [[ $1 != bcache ]]; then
		dm_remove target
		[[ $1 != dm-cache ]] || null_del meta
		[[ $1 != stage-raid1 ]] || dm_remove raid
		return
	fi
	set=$(readlink -f /sys/block/bcache0/bcache/cache)
	echo 1 >/sys/block/bcache0/bcache/stop
	echo 1 >"$set/stop"
	wait_for 60 bcache_gone "$set" || fail "bcache does not stop"
}

bcache_gone() {
	[[ ! -e /sys/block/bcache0 && ! -e $1 ]]
}

# status_field FIELD: print this field of the stage's status line.
status_field() {
	paste <(./status_names stage) <(dmsetup status target | cut -d' ' -f4- | tr ' ' '\n') |
		sed -n "s/^$1\t//p"
}

# batches: fail unless the drain has written at least one batch of several epochs.
batches() {
	local count epochs
	count=$(grep -c 'stage_drain: .* result=0 ' /sys/kernel/tracing/trace)
	epochs=$(status_field drained_epoch)
	echo "stage: $count batches, $epochs epochs"
	((count < epochs)) || fail "each epoch was a batch"
}

# record FS TARGET LOG STEPS: write STEPS checkpoints to the file system on the target. The marks
# "begin" and "end" enclose the part that a crash may interrupt. A stage starts again in the middle.
record() {
	local fs=$1 target=$2 half=$(($4 / 2)) passed=0
	if [[ $target == stage ]]; then
		trace_events 1 nearcache/nearcache_stage_drain
		echo >/sys/kernel/tracing/trace
	fi
	recorded "$3"
	# bcache has its superblock before the data.
	make_dm device target "0 $((origin - 16)) linear $O $([[ $target == bcache ]] && echo 16 || echo 0)"
	make_fs "$fs" "$device"
	dm_remove target
	[[ $target != stage* ]] || ./stage_format "$C" $origin || fail "stage_format"
	[[ $target != stage-raid1 ]] || ./stage_format "$mirror" $origin || fail "stage_format"
	recorded_up "$target"
	mount -t "$fs" "$device" /mnt || fail "$target: cannot mount"
	dmsetup message origin 0 mark begin
	./checkpoints write /mnt/data origin 1 $half || fail "$target: cannot write"
	if [[ $target == stage* ]]; then
		umount /mnt
		echo "$target: $(dmsetup status target)"
		passed=$(status_field passed_bytes)
		dm_remove target
		recorded_up stage
		mount -t "$fs" "$device" /mnt || fail "$target: cannot mount again"
	fi
	./checkpoints write /mnt/data origin $((half + 1)) "$4" || fail "$target: cannot write"
	dmsetup message origin 0 mark end
	echo "$target: $(dmsetup status target 2>/dev/null)"
	if [[ $target == stage ]]; then
		batches
		trace_events 0 nearcache/nearcache_stage_drain
	fi
	[[ $target != stage-passes ]] || ((passed + $(status_field passed_bytes))) || fail "no write passed"
	umount /mnt
	recorded_down "$target"
	recorded_gone
}
