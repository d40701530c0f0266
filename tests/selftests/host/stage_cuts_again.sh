#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The power is cut, and again while nearcache-stage recovers its log, drains it, and the file system
# replays its journal: all that was flushed before the first cut is still there.
# kernels: 6.12
# timeout: 240
# when: soak
set -euo pipefail

origin=$((32 * 2048)) log=$((17 * 2048)) # sectors
states=$((${SOAK:+5 *} 8)) cuts=$((${SOAK:+5 *} 100)) steps=16
mib=$(((origin + log) / 2048)) room=320 again=64 # MiB of a state, and of the recordings
mkdir -p "$HOST_DIR/first" "$HOST_DIR/again" "$HOST_DIR/again-disks"
# In memory: e2fsck waits for its writes.
files=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d -p "$HOST_DIR")
trap 'rm -rf "$files"' EXIT
cat >"$HOST_DIR/common.sh" <<END
origin=$origin log=$log steps=$steps room=$room again=$again mib=$mib states=$states
. ./recording.sh
insmod "\$MODULE"
insmod "/logger/\$(uname -r)/dm-crash-log.ko" || fail "no logger"
D=\$(local_dev)
R=\$(remote_backing)
END

# boot NAME OPTIONS...: run the script $HOST_DIR/NAME/NAME.sh in a guest.
boot() {
	cp "$HOST_DIR/common.sh" "$HOST_DIR/$1"
	"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/$1-disks" \
		--local-size $((mib + log / 2048))M --payload "$BUILD/selftests/nearcache:/selftests" \
		--payload "$BUILD/crash/logger:/logger" --payload "$HOST_DIR/$1:/run-it" "${@:2}" -- \
		bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /run-it/common.sh && . /run-it/$1.sh"
}

echo 'record ext4 stage "$R" $steps' >"$HOST_DIR/first/first.sh"
boot first --remote-size ${room}M --timeout 120
seed=${CRASH_SEED:-$RANDOM}
echo "CRASH_SEED=$seed"
"$BUILD/crash/cuts" -l 1 -s "$HOST_DIR/states" "$HOST_DIR/first-disks/remote.img" $origin $log $((2 * states)) \
	"$seed" "$files" >/dev/null
truncate -s $((2 * states * mib))M "$HOST_DIR/states"

cat >"$HOST_DIR/again/again.sh" <<'END'
n=0 kept=0
while read -r how need; do
	[[ $how == kept ]] || { n=$((n + 1)); continue; }
	make_dm part part "0 $origin linear $R $((n * mib * 2048))"
	make_dm ring ring "0 $log linear $R $((n * mib * 2048 + origin))"
	make_dm L recording "0 $((again * 2048)) linear $R $(((2 * states * mib + kept * again) * 2048))"
	make_dm O origin "0 $origin crash-log $part $L 0 0"
	make_dm C log "0 $log crash-log $ring $L 1 $origin"
	dmsetup message origin 0 mark begin
	recorded_up stage
	mount "$device" /mnt || fail "state $n: cannot mount"
	# shellcheck disable=SC2086 # one word each
	./checkpoints check /mnt/data $need || fail "state $n"
	umount /mnt
	dm_remove target
	dmsetup message origin 0 mark end
	for name in log origin recording ring part; do
		dm_remove $name
	done
	n=$((n + 1)) kept=$((kept + 1))
done </run-it/states.list
same "states" $kept $states
END
cp "$HOST_DIR/states.list" "$HOST_DIR/again"
cp --sparse=always "$HOST_DIR/states" "$HOST_DIR/again-disks/remote.img"
truncate -s $((2 * states * mib + states * again))M "$HOST_DIR/again-disks/remote.img"
boot again --timeout $((${SOAK:+3 *} 120))

n=0 kept=0 failures=0
while read -r how need; do
	if [[ $how == kept ]]; then
		dd if="$HOST_DIR/states" of="$HOST_DIR/base.img" bs=1M skip=$((n * mib)) count=$mib status=none
		dd if="$HOST_DIR/again-disks/remote.img" of="$HOST_DIR/log.img" bs=1M count=$again status=none \
			skip=$((2 * states * mib + kept * again))
		"$BUILD/crash/cuts" -l 1 -r "$HOST_DIR/base.img" "$need" "$HOST_DIR/log.img" $origin $log $cuts \
			$((seed + n)) "$files" >"$HOST_DIR/said" || failures=$((failures + 1))
		sed "s/^/state $n: /" "$HOST_DIR/said"
		kept=$((kept + 1))
	fi
	n=$((n + 1))
done <"$HOST_DIR/states.list"
((kept && !failures))
