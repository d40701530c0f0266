# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# virtual time only: the drives are models
# A checkpoint on a local drive in front of an origin that is 40 times slower: how long until it is
# durable locally, and on the origin?  Both drives are models (drive/).
#   rows: target, seconds_to_fsync, ratio_to_raw (the bare drive's time to this one),
#	seconds_to_durable (on the origin, from the begin of the checkpoint on), drain_ratio (to the
#	origin's bandwidth, from the first write to the origin on), flush_p99_ratio (fdatasync after
#	a write of 4 KiB, to the bare drive's), hit_p99_ratio (hits of the cache during the drain,
#	to hits before), instructions_per_write (4 KiB, added to those of the bare drive),
#	instructions_per_large_write (256 KiB); null: the target has no such figure
#	rate_ratio (of the drain to the rate that was set), flush_p50_nanoseconds,
#	flush_p99_nanoseconds, hit_p50_nanoseconds, hit_p99_nanoseconds (before the drain),
#	file_seconds_to_fsync, file_ratio_to_raw, file_seconds_to_durable (a checkpoint in a file of
#	ext4: write, fsync, rename, fsync of the folder)
#	cheap_fua_flush_p99_ratio (on a drive on which a write with FUA takes no longer than another
#	one), protected_write_p99_ratio (write and fdatasync, on a drive without a volatile cache)
# shellcheck disable=SC2034,SC2154 # the including script sets the devices and reads the cleanups

targets=(raw dm-writecache bcache dm-cache nearcache-stage nearcache-above-stage)
# MiB: log, cache device above the stage, origin, checkpoint and its place.
LOG_MB=1024
ABOVE_MB=96
ORIGIN_MB=1024
AT=256
LENGTH=256
ORIGIN_RATE=50000000
SET_RATE=25000000
BENCH_MB=32

# Read ns, read bytes/s, write ns, write bytes/s, FLUSH ns, FUA ns.
declare -A LOCAL_IS=(
	[main]="80000 6000000000 20000 2000000000 300000 300000"
	[cheap_fua]="80000 6000000000 20000 2000000000 300000 0"
	[protected]="80000 6000000000 20000 2000000000 0 0"
)
ORIGIN_IS="1000000 $ORIGIN_RATE 1000000 $ORIGIN_RATE 1000000 1000000"
NO_DELAY="0 0 0 0 1 0"

load() {
	"${BENCH_PROGRAMS:-$here/tools}/stage" "$@" || fail "stage $*"
}

# slice VARIABLE NAME AT_MB MB: make a part of the local drive.
slice() {
	make_dm "$1" "$2" "0 $(($4 << 11)) linear $local $(($3 << 11))"
}

# drives LOCAL ORIGIN: make the log $C, which is the cache device of peers, and the origin $O.
drives() {
	make_dm local local "0 $(((LOG_MB + ABOVE_MB + 16) << 11)) bench-drive $1"
	make_dm O origin "0 $((ORIGIN_MB << 11)) bench-drive $2"
	slice C log 0 $LOG_MB
	slice N above $LOG_MB $ABOVE_MB
	slice M meta $((LOG_MB + ABOVE_MB)) 16
}

drives_gone() {
	local name
	for name in log above meta local origin; do
		dm_remove $name
	done
	cleanups=()
}

# up TARGET: sets $device, to write to, and $hits, to read from ('': caches no reads).
up() {
	hits=''
	case $1 in
	raw) device=$C ;;
	dm-writecache) make_dm device bench "0 $(sectors "$O") writecache s $O $C 4096 0" ;;
	bcache)
		# Write back at once and at full speed. With larger buckets writes are slower: on a
		# drive this small it writes the list of its buckets often, with a checksum that
		# takes 8 instructions per byte. With smaller ones FLUSH is slower.
		bcache_up 256k
		echo writeback >/sys/block/bcache0/bcache/cache_mode
		echo 0 >/sys/block/bcache0/bcache/writeback_percent
		echo 0 >/sys/block/bcache0/bcache/writeback_delay
		hits=$device
		;;
	dm-cache)
		make_dm device bench "0 $(sectors "$O") cache $M $C $O 512 1 writeback smq 2 migration_threshold 131072"
		hits=$device
		;;
	nearcache-*)
		./stage_format "$C" "$(sectors "$O")" || fail "stage_format"
		make_dm device bench-stage "0 $(sectors "$O") nearcache-stage $C $O"
		format "$N" "$device" 256K
		MODE=writearound start bench '' "$device" "$N"
		hits=/dev/mapper/bench
		[[ $1 == nearcache-stage ]] || device=$hits
		;;
	*) fail "'$1' is no target" ;;
	esac
}

down() {
	case $1 in
	raw) ;;
	bcache) down_bcache ;;
	nearcache-*) dm_gone bench; dm_remove bench-stage ;;
	*) dm_remove bench ;;
	esac
}

# begin_drain TARGET: ask for it where this is needed.
begin_drain() {
	case $1 in
	dm-writecache) dmsetup message bench 0 flush ;;
	nearcache-*) epoch=$(dmsetup message bench-stage 0 commit) || fail "no commit" ;;
	esac
}

# drained TARGET: has it written back all that was written?
drained() {
	local words
	case $1 in
	dm-writecache)
		read -ra words < <(dmsetup status bench)
		((words[5] == words[4]))
		;;
	bcache) [[ $(</sys/block/bcache0/bcache/state) == clean ]] ;;
	dm-cache)
		read -ra words < <(dmsetup status bench)
		((words[13] == 0))
		;;
	nearcache-*)
		read -ra words < <(dmsetup status bench-stage)
		((words[10] >= epoch))
		;;
	esac
}

# origin_is VARIABLE: the counters of the model of the origin.
origin_is() {
	local -n counters=$1
	read -ra counters < <(dmsetup status origin)
	counters=("${counters[@]:3}")
}

# origin_at TARGET: print the byte of the origin at which the checkpoint is; bcache has a superblock.
origin_at() {
	echo $(((AT << 20) + ($([[ $1 != bcache ]]; echo $?) << 13)))
}

# durable TARGET: wait until all is written back, and durable on the origin; sets $first (time of
# the first write to the origin) and $last (time when it was durable), ns.
durable() {
	local state
	wait_for 120 drained "$1" || fail "$1 is not drained: $(dmsetup status)"
	origin_is state
	if ((!state[6])); then
		# bcache and dm-cache do not flush the origin themselves.
		dd if=/dev/null of="$O" conv=notrunc,fsync 2>/dev/null
		origin_is state
	fi
	first=${state[4]} last=${state[6]}
}

# checkpoint TARGET MB NUMBER: sets $begun (time, ns), $synced (ns it took).
checkpoint() {
	dmsetup message origin 0 mark || fail "mark"
	read -r begun _ synced < <(load checkpoint "$device" $AT "$2" "$3")
	begin_drain "$1"
}

# delayed TARGET: measure all that takes time; the results go to seen[TARGET,...].
delayed() {
	local device hits epoch begun synced first last
	drives "${LOCAL_IS[main]}" "$ORIGIN_IS"
	load checkpoint "$O" 0 $BENCH_MB 1 >/dev/null
	up "$1"
	checkpoint "$1" $LENGTH 1000000
	seen[$1,fsync]=$synced
	if [[ $1 != raw ]]; then
		durable "$1"
		seen[$1,durable]=$((last - begun))
		seen[$1,drain]=$(ratio $((LENGTH * 1048576 * 1000)) $((last - first)) 9)
		load check "$O" "$(origin_at "$1")" $LENGTH 1000000
	fi
	if [[ $hits ]]; then
		device=$hits fill_all
		read -r _ seen["$1,hit50"] seen["$1,hit"] _ < <(load reads "$hits" $BENCH_MB 500)
		checkpoint "$1" $LENGTH 2000000
		read -r _ _ seen["$1,busy"] _ < <(load reads "$hits" $BENCH_MB 1000)
		! drained "$1" || fail "$1 has drained too early"
		durable "$1"
		load check "$O" "$(origin_at "$1")" $LENGTH 2000000
	fi
	if [[ $1 == nearcache-* ]]; then
		dmsetup message bench-stage 0 set rate $SET_RATE || fail "no rate"
		checkpoint "$1" $LENGTH 3000000
		durable "$1"
		seen[$1,rate]=$(ratio $((LENGTH * 1048576 * 1000)) $((last - first)) 9)
		dmsetup message bench-stage 0 set rate 0 || fail "no rate"
	fi
	down "$1"
	drives_gone
}

# filed TARGET: measure a checkpoint in a file; the results go to seen[TARGET,file...].
filed() {
	local device hits epoch begun synced first last mount=$TMPDIR/mnt
	drives "${LOCAL_IS[main]}" "$ORIGIN_IS"
	up "$1"
	mkdir -p "$mount"
	# The cache above has the stage open.
	[[ $1 != nearcache-stage ]] || dm_remove bench
	[[ $1 != nearcache-above-stage ]] || device=$hits
	# Nothing is written in the background, except by the target.
	mkfs.ext4 -qF -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 "$device" &&
		mount -t ext4 -o noinit_itable,noatime,commit=600 "$device" "$mount" || fail "$1: no ext4"
	sync
	if [[ $1 != raw ]]; then
		begin_drain "$1"
		durable "$1"
	fi
	dmsetup message origin 0 mark || fail "mark"
	read -r begun _ synced < <(load file "$mount" $LENGTH 4000000)
	begin_drain "$1"
	seen[$1,file]=$synced
	if [[ $1 != raw ]]; then
		durable "$1"
		seen[$1,file_durable]=$((last - begun))
	fi
	# The program may still be ending.
	wait_for 10 umount "$mount" 2>/dev/null || fail "$1: cannot unmount"
	down "$1"
	drives_gone
}

# flushed TARGET DRIVE: flush 500 times; p50 and p99 go to seen[TARGET,DRIVE,...].
flushed() {
	local device hits
	drives "${LOCAL_IS[$2]}" "$ORIGIN_IS"
	up "$1"
	read -r _ seen["$1,$2,p50"] seen["$1,$2,p99"] _ _ seen["$1,$2,both"] < <(load sync "$device" $AT 500)
	down "$1"
	drives_gone
}

# counted TARGET: measure the instructions of writes, without work in the background.
counted() {
	local device hits at=512
	drives "$NO_DELAY" "$NO_DELAY"
	up "$1"
	case $1 in
	bcache) echo 0 >/sys/block/bcache0/bcache/writeback_running ;;
	# It does not promote for small writes: overwrite blocks that it has.
	dm-cache) at=$AT ;;
	nearcache-*) dmsetup message bench-stage 0 set rate 65536 || fail "no rate" ;;
	esac
	load writes "$device" $AT 262144 64 >/dev/null
	seen[$1,large]=$(load writes "$device" $((AT + 16)) 262144 256)
	seen[$1,small]=$(load writes "$device" $at 4096 4096)
	down "$1"
	drives_gone
}

# of A [B [SCALE]]: print A / B * SCALE, null without a figure.
of() {
	[[ ${1:-} && ${2-1} ]] || { echo null; return; }
	awk -v a="$1" -v b="${2:-1}" -v scale="${3:-1}" 'BEGIN { printf "%.4f", a / b * scale }'
}

# to_raw NAME: print the figure NAME of the target, divided by that of the bare drive.
to_raw() {
	of "${seen[$target,$1]}" "${seen[raw,$1]:-}"
}

# less A B: print A - B, null without a figure.
less() {
	[[ ${1:-} && ${2:-} ]] && echo $(($1 - $2)) || echo null
}

bench() {
	local target device hits
	local -A seen=()
	insmod "/drive/$(uname -r)/dm-bench-drive.ko" || fail "no model of a drive"
	for target in "${targets[@]}"; do
		echo "# $target" >&2
		delayed "$target"
		filed "$target"
		flushed "$target" main
		flushed "$target" cheap_fua
		flushed "$target" protected
		counted "$target"
		row target "$target" seconds_to_fsync "$(of "${seen[$target,fsync]}" 1e9)" \
			ratio_to_raw "$(of "${seen[raw,fsync]:-}" "${seen[$target,fsync]}")" \
			seconds_to_durable "$(of "${seen[$target,durable]:-}" 1e9)" \
			drain_ratio "$(of "${seen[$target,drain]:-}" $ORIGIN_RATE 1e6)" \
			flush_p99_ratio "$(to_raw main,p99)" \
			hit_p99_ratio "$(of "${seen[$target,busy]:-}" "${seen[$target,hit]:-}")" \
			instructions_per_write "$(less "${seen[$target,small]}" "${seen[raw,small]:-}")" \
			instructions_per_large_write "$(less "${seen[$target,large]}" "${seen[raw,large]:-}")" \
			rate_ratio "$(of "${seen[$target,rate]:-}" $SET_RATE 1e6)" \
			flush_p50_nanoseconds "${seen[$target,main,p50]}" \
			flush_p99_nanoseconds "${seen[$target,main,p99]}" \
			hit_p50_nanoseconds "${seen[$target,hit50]:-null}" hit_p99_nanoseconds "${seen[$target,hit]:-null}" \
			file_seconds_to_fsync "$(of "${seen[$target,file]}" 1e9)" \
			file_ratio_to_raw "$(of "${seen[raw,file]:-}" "${seen[$target,file]}")" \
			file_seconds_to_durable "$(of "${seen[$target,file_durable]:-}" 1e9)" \
			cheap_fua_flush_p99_ratio "$(to_raw cheap_fua,p99)" \
			protected_write_p99_ratio "$(to_raw protected,both)"
	done
}
