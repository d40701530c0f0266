#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Power cuts at each flush and at random moments while a program writes checkpoints to ext4 on a
# write-back cache. The cache device is lost: the origin alone must be a valid file system with whole
# checkpoints. nearcache-stage must pass, and with its log also keep all that was flushed.
# dm-writecache, bcache and dm-cache must fail, and dm-linear pass: this shows that the test can tell.
# kernels: 6.12
# timeout: 300
set -euo pipefail

origin=$((32 * 2048)) log=$((17 * 2048)) # sectors; the smallest log, which wraps around
cuts=$((${SOAK:+40 *} 250)) steps=$((${SOAK:+6 *} 24))
room=$((${SOAK:+4 *} 320)) # MiB for the recording of one target
targets=(stage dm-writecache)
[[ ! ${SOAK:-} ]] || targets+=(stage-passes stage-raid1 linear dm-cache bcache)
mkdir -p "$HOST_DIR/run"
# In memory: e2fsck waits for its writes.
files=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d -p "$HOST_DIR")
trap 'rm -rf "$files"' EXIT
echo "origin=$origin log=$log steps=$steps room=$room targets=(${targets[*]})" >"$HOST_DIR/run/size.sh"
cat >"$HOST_DIR/run/run.sh" <<'END'
. ./recording.sh
insmod "$MODULE"
insmod "/logger/$(uname -r)/dm-crash-log.ko" || fail "no logger"
D=$(local_dev)
R=$(remote_backing)
for i in "${!targets[@]}"; do
	make_dm L recording "0 $((room * 2048)) linear $R $((i * room * 2048))"
	record ext4 "${targets[i]}" "$L" $steps
	dm_remove recording
done
END
"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/disks" --local-size $(((origin + 2 * log) / 2048))M \
	--remote-size $((room * ${#targets[@]}))M --timeout $((${SOAK:+5 *} 120)) \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$BUILD/crash/logger:/logger" \
	--payload "$HOST_DIR/run:/run-it" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /run-it/size.sh && . /run-it/run.sh"

seed=${CRASH_SEED:-$RANDOM}
echo "CRASH_SEED=$seed"
failures=0
for i in "${!targets[@]}"; do
	dd if="$HOST_DIR/disks/remote.img" of="$HOST_DIR/log.img" bs=1M skip=$((i * room)) count=$room \
		conv=sparse status=none
	options=() n=$cuts wanted=0
	case ${targets[i]} in
	stage | stage-passes) options=(-l 1) ;;
	stage-raid1) options=(-l 2) n=$((cuts / 5)) ;;
	linear) n=$((cuts / 5)) ;;
	*) options=(-p) n=$((cuts / 5)) wanted=1 ;;
	esac
	[[ ${targets[i]} != bcache ]] || options+=(-b 16)
	status=0
	"$BUILD/crash/cuts" "${options[@]}" "$HOST_DIR/log.img" $origin $log $n "$seed" "$files" \
		>"$HOST_DIR/said" || status=$?
	sed "s/^/${targets[i]}: /" "$HOST_DIR/said"
	if ((status != wanted)); then
		echo "${targets[i]}: exit code $status instead of $wanted"
		failures=1
	fi
	[[ ${targets[i]} != stage* ]] || tail -n 1 "$HOST_DIR/said" >"$CHECK_OUT/$KERNEL/${targets[i]}-cuts.json"
done
exit $failures
