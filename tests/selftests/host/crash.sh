#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Crashes at any moment of a read-only session with fills, evictions, commits, changes of
# the origin that are told, stops and starts: all writes to origin and cache device go
# through one dm-log-writes, and what the kernel would load from each state that a crash
# may leave of it is looked at, sector by sector, and so are the checksums.
# kernels: 6.12
# timeout: 240
set -euo pipefail

origin=32768 # sectors
mkdir -p "$HOST_DIR/run"
echo "rounds=$((${SOAK:+10 *} 8)) origin=$origin" >"$HOST_DIR/run/size.sh"
cat >"$HOST_DIR/run/run.sh" <<'END'
D=$(local_dev)
L=$(remote_backing)
changed=$((origin - 2048)) generation=1
insmod "$MODULE"
./blockdata write "$D" -n $origin
make_dm O plain-origin "0 $origin linear $D 0"
make_dm C plain-cache "0 $(($(sectors "$D") - origin)) linear $D $origin"
INTEGRITY=crc32c format
dm_remove plain-cache
dm_remove plain-origin
dd if="$D" of="$L" bs=1M seek=1024 iflag=direct oflag=direct 2>/dev/null || fail "base"

modprobe dm-log-writes || skip "no dm-log-writes"
make_dm logged logged "0 $(sectors "$D") log-writes $D $L"
make_dm O origin "0 $origin linear $logged 0"
make_dm C cache "0 $(($(sectors "$D") - origin)) linear $logged $origin"

# change FIRST COUNT [all]: while others read and blocks are evicted, somebody writes to the origin, and says so.
change() {
	generation=$((generation + 1))
	./blockdata write "$O" -g $generation -s "$1" -n "$2"
	if [[ ${3:-} ]]; then
		dmsetup message logged 0 mark telling || fail "mark"
		dmsetup message nc 0 invalidate all
	else
		dmsetup message nc 0 invalidate "$1" "$2"
	fi || fail "invalidate"
	dmsetup message logged 0 mark "told,$generation,$1,$2" || fail "mark"
}

start
evicted=0
change $changed 2048
for ((round = 0; round < rounds; round++)); do
	# Moves in, and moves out what is idle; on the side what changes.
	for _ in 1 2 3 4 5; do
		check -s $((round % 4 * 7680)) -n 5120 -b 128 -t 4 >/dev/null
		./blockdata read /dev/mapper/nc -s $changed -n 2048 -g $generation -b 1:64 -a 1 -r 20 -t 2 \
			>/dev/null || fail "wrong data"
	done
	verify_begin -s $((round % 4 * 7680)) -n 5120 -b 1:128 -a 1 -r 100 -t 3
	change $changed 2048
	./blockdata read /dev/mapper/nc -s $changed -n 2048 -g $generation >/dev/null || fail "wrong data"
	change $((changed + round % 17 * 100)) 300
	change $changed 2048
	((round % 4 != 2)) || change $changed 2048 all
	verify_end >/dev/null
	if ((round % 4 == 3)); then
		evicted=$((evicted + $(field evictions)))
		stop
		start
	fi
done
is damaged 0
((evicted)) || fail "nothing was evicted"
echo "$evicted blocks evicted"
stop
for name in cache origin logged; do
	dm_remove $name
done
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/disks" --local-size 24M --remote-size 2G \
	--timeout $((${SOAK:+10 *} 200)) --payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR/run:/run-it" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /run-it/size.sh && . /run-it/run.sh"
dd if="$HOST_DIR/disks/remote.img" of="$HOST_DIR/base.img" bs=1M skip=1024 count=24 status=none
truncate -s 1G "$HOST_DIR/disks/remote.img"
seed=${CRASH_SEED:-$RANDOM}
echo "CRASH_SEED=$seed"
"$BUILD/crash/crash" "$HOST_DIR/base.img" "$HOST_DIR/disks/remote.img" $origin \
	$((${SOAK:+20 *} 600)) "$seed" | tee "$HOST_DIR/said"
tail -n 1 "$HOST_DIR/said" >"$CHECK_OUT/$KERNEL/crash.json"
