#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# As stage_cuts.sh, but the kernel starts from the states: with the log kept, nearcache-stage recovers
# it and the file system is mounted on it; with the log lost, the origin is mounted. For ext4, XFS and
# btrfs, whose logs only a kernel replays.
# kernels: 6.12
# timeout: 900
# when: soak
set -euo pipefail

origin=$((64 * 2048)) log=$((17 * 2048)) # sectors
steps=$((${SOAK:+2 *} 12))
room=$((${SOAK:+2 *} 384)) # MiB for the recording of one file system
mib=$(((origin + log) / 2048))
kinds=(ext4 xfs btrfs)
# States of each file system in a batch, and batches: each is a boot, as states take much space. With
# ext4, stage_cuts.sh checks 10,000 states without a guest.
states=(12 12 12) batches=${STAGE_BATCHES:-1}
[[ ! ${SOAK:-} ]] || states=(10 100 100) batches=${STAGE_BATCHES:-10}
mkdir -p "$HOST_DIR/record" "$HOST_DIR/again" "$HOST_DIR/again-disks" "$HOST_DIR/files"
cat >"$HOST_DIR/common.sh" <<END
origin=$origin log=$log steps=$steps room=$room target=${STAGE_TARGET:-stage}
. ./recording.sh
insmod "\$MODULE"
D=\$(local_dev)
R=\$(remote_backing)
END

# boot NAME OPTIONS...: run the script $HOST_DIR/NAME/NAME.sh in a guest.
boot() {
	cp "$HOST_DIR/common.sh" "$HOST_DIR/$1"
	"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/$1-disks" --local-size $((mib + log / 2048))M \
		--payload "$BUILD/selftests/nearcache:/selftests" --payload "$BUILD/crash/logger:/logger" \
		--payload "$HOST_DIR/$1:/run-it" "${@:2}" -- \
		bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /run-it/common.sh && . /run-it/$1.sh"
}

echo "kinds=(${kinds[*]})" >>"$HOST_DIR/common.sh"
cat >"$HOST_DIR/record/record.sh" <<'END'
insmod "/logger/$(uname -r)/dm-crash-log.ko" || fail "no logger"
for i in "${!kinds[@]}"; do
	make_dm L recording "0 $((room * 2048)) linear $R $((i * room * 2048))"
	record "${kinds[i]}" "$target" "$L" $steps
	dm_remove recording
done
END
boot record --remote-size $((room * ${#kinds[@]}))M --timeout $((${SOAK:+5 *} 120))

cat >"$HOST_DIR/again/again.sh" <<'END'
# good FS DEV: check the file system, after its log was replayed.
good() {
	case $1 in
	ext4) e2fsck -fn "$2" ;;
	xfs) xfs_repair -n "$2" ;;
	btrfs) btrfs check "$2" ;;
	esac >"$TMPDIR/said" 2>&1 || { cat "$TMPDIR/said"; return 1; }
}

# tried FS HOW NUMBERS...: start from state n; false if anything is wrong.
tried() {
	mount -t "$1" "$device" /mnt || return 1
	./checkpoints check /mnt/data "${@:3}" >"$TMPDIR/files"
	local status=$?
	umount /mnt
	((!status)) || { cat "$TMPDIR/files"; return 1; }
	good "$1" "$device"
}

n=0 failures=0
declare -A tries=()
while read -r fs how need; do
	tries[$fs]=$((${tries[$fs]:-0} + 1))
	make_dm O origin "0 $origin linear $R $((n * (origin + log)))"
	make_dm C log "0 $log linear $R $((n * (origin + log) + origin))"
	device=$O
	[[ $how == thrown ]] || recorded_up stage
	# shellcheck disable=SC2086 # one word each
	if ! tried "$fs" "$how" $need; then
		echo "state $n: $fs, log $how, wanted $need: wrong"
		failures=$((failures + 1))
	fi
	[[ $how == thrown ]] || dm_remove target
	dm_remove log
	dm_remove origin
	n=$((n + 1))
done </run-it/list
for fs in "${!tries[@]}"; do
	echo "$fs: ${tries[$fs]} states in $SECONDS s of all"
done
((n && !failures))
END
seed=${CRASH_SEED:-$RANDOM}
echo "CRASH_SEED=$seed"
options=()
[[ ${STAGE_TARGET:-stage} != stage ]] || options=(-l 1)
for i in "${!kinds[@]}"; do
	dd if="$HOST_DIR/record-disks/remote.img" of="$HOST_DIR/${kinds[i]}.img" bs=1M skip=$((i * room)) \
		count=$room conv=sparse status=none
done
rm -r "$HOST_DIR/record-disks"

# batch SEED: make states of each file system and let the kernel start from them.
batch() {
	local i at=0 disk=$HOST_DIR/again-disks/remote.img
	rm -f "$disk" "$HOST_DIR/again/list"
	for i in "${!kinds[@]}"; do
		"$BUILD/crash/cuts" "${options[@]}" -s "$HOST_DIR/states" "$HOST_DIR/${kinds[i]}.img" $origin $log \
			"${states[i]}" "$1" "$HOST_DIR/files" >/dev/null
		truncate -s $((states[i] * mib))M "$HOST_DIR/states"
		dd if="$HOST_DIR/states" of="$disk" bs=1M seek=$((at * mib)) conv=sparse,notrunc status=none
		sed "s/^/${kinds[i]} /" "$HOST_DIR/states.list" >>"$HOST_DIR/again/list"
		at=$((at + states[i]))
	done
	rm "$HOST_DIR/states"
	truncate -s $((at * mib))M "$disk"
	boot again --timeout $((at * 12))
	all=$((all + at))
}

all=0
for ((n = 0; n < batches; n++)); do
	batch $((seed + n))
	echo "{\"crash_states\": $all}" >"$CHECK_OUT/$KERNEL/stage_cuts_fs.json"
done
