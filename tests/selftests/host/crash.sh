#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Crashes at any moment of a read-only session with fills, evictions, commits, invalidations, a
# growing origin, flushes by others, stops and starts. The target crash-log records all writes to
# origin and cache device. For states that a crash can leave, tests/crash/crash.c checks every
# sector and checksum that the kernel would load.
#
# The kernel itself starts from some of these states. It must return the origin's data and have just
# the predicted blocks cached. Its writes are logged as well, to test crashes of recoveries.
# kernels: 6.12
# timeout: 480
set -euo pipefail

origin=32768 # sectors, at most
rounds=$((${SOAK:+10 *} 8)) samples=$((${SOAK:+10 *} 4))
states=$((${SOAK:+50 *} 800)) again=$((${SOAK:+5 *} 150))
mib=24 log_mib=24 # of a state, and of the log of a recovery from it
mkdir -p "$HOST_DIR/first" "$HOST_DIR/again"
cat >"$HOST_DIR/common.sh" <<END
rounds=$rounds origin=$origin mib=$mib log_mib=$log_mib samples=$samples
insmod "\$MODULE"
insmod "/logger/\$(uname -r)/dm-crash-log.ko" || fail "no logger"
D=\$(local_dev)
END

# boot NAME OPTIONS...: run the script $HOST_DIR/NAME/NAME.sh in a guest.
boot() {
	"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/$1-disks" --local-size ${mib}M \
		--payload "$BUILD/selftests/nearcache:/selftests" --payload "$BUILD/crash/logger:/logger" \
		--payload "$HOST_DIR/$1:/run-it" "${@:2}" -- \
		bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /run-it/common.sh && . /run-it/$1.sh"
}

cp "$HOST_DIR/common.sh" "$HOST_DIR/first"
cat >"$HOST_DIR/first/first.sh" <<'END'
R=$(remote_backing)
make_dm L log "0 $((3072 * 2048)) linear $R 0"
. ./logged.sh
logger=logged size=30310 changed=28160
./blockdata write "$D" -n $origin
make_dm O plain-origin "0 $size linear $D 0"
make_dm C plain-cache "0 $(($(sectors "$D") - origin)) linear $D $origin"
INTEGRITY=crc32c format
dm_remove plain-cache
dm_remove plain-origin
dd if="$D" of="$R" bs=1M seek=3072 iflag=direct oflag=direct 2>/dev/null || fail "base"

make_dm logged logged "0 $(sectors "$D") crash-log $D $L"
make_dm O origin "0 $size linear $logged 0"
make_dm C cache "0 $(($(sectors "$D") - origin)) linear $logged $origin"

# grow SECTORS: cache the last sub-block of the origin, then let the origin grow.
grow() {
	check -s $((size - 200)) -n 200 >/dev/null
	size=$((size + $1))
	dmsetup load --noudevsync origin --table "0 $size linear $logged 0" &&
		dmsetup resume --noudevsync origin && reload || fail "grow"
	check -s $((size - $1 - 200)) -n $(($1 + 200)) >/dev/null
}

start
evicted=0
change $changed 1900
for ((round = 0; round < rounds; round++)); do
	# Fill, evict idle blocks, and re-read the part that changes.
	for _ in 1 2 3 4 5; do
		check -s $((round % 4 * 7680)) -n 5120 -b 128 -t 4 >/dev/null
		./blockdata read /dev/mapper/nc -s $changed -n 1900 -g $generation -b 1:64 -a 1 -r 20 -t 2 \
			>/dev/null || fail "wrong data"
	done
	rm -f "$TMPDIR/flush-stop"
	./blockdata flush "$O" -f "$TMPDIR/flush-stop" &
	flusher=$!
	verify_begin -s $((round % 4 * 7680)) -n 5120 -b 1:128 -a 1 -r 100 -t 3
	change $changed 1900
	./blockdata read /dev/mapper/nc -s $changed -n 1900 -g $generation >/dev/null || fail "wrong data"
	change $((changed + round % 17 * 100)) 300
	change $changed 1900
	((round % 4 != 2)) || change $changed 1900 all
	((round % (rounds / 8) || size + 301 > origin)) || grow 301
	verify_end >/dev/null
	touch "$TMPDIR/flush-stop"
	wait $flusher || fail "flush"
	if ((round % 4 == 3)); then
		evicted=$((evicted + $(field evictions)))
		stop
		start
	fi
done
is damaged 0
((evicted)) || fail "nothing was evicted"
((size > 32000)) || fail "the origin did not grow"
echo "$evicted blocks evicted"
stop
for name in cache origin logged log; do
	dm_remove $name
done
END
boot first --remote-size 4G --timeout $((${SOAK:+10 *} 200))
remote=$HOST_DIR/first-disks/remote.img
dd if="$remote" of="$HOST_DIR/base.img" bs=1M skip=3072 count=$mib status=none
truncate -s 3G "$remote"
seed=${CRASH_SEED:-$RANDOM}
echo "CRASH_SEED=$seed"
mkdir -p "$HOST_DIR/again-disks"
crashes=$HOST_DIR/again-disks/remote.img
"$BUILD/crash/crash" -s $samples "$crashes" "$HOST_DIR/base.img" "$remote" $origin $states "$seed" |
	tee "$HOST_DIR/said"
tail -n 1 "$HOST_DIR/said" >"$CHECK_OUT/$KERNEL/crash.json"
rm -r "$HOST_DIR/first-disks"

cp "$HOST_DIR/common.sh" "$crashes.list" "$HOST_DIR/again"
cat >"$HOST_DIR/again/again.sh" <<'END'
R=$(remote_backing)
n=0 evicted=0
while read -r size blocks bytes older; do
	dd if="$R" of="$D" bs=1M skip=$((n * mib)) count=$mib iflag=direct oflag=direct 2>/dev/null ||
		fail "dd"
	make_dm L log "0 $((log_mib * 2048)) linear $R $(((samples * mib + n * log_mib) * 2048))"
	make_dm logged logged "0 $(sectors "$D") crash-log $D $L"
	make_dm O origin "0 $size linear $logged 0"
	make_dm C cache "0 $(($(sectors "$D") - origin)) linear $logged $origin"
	start
	is pages_damaged 0
	is blocks_warm "$blocks"
	is bytes_valid "$bytes"
	./blockdata same /dev/mapper/nc -f "$O" || fail "state $n: not what the origin holds"
	# Read enough to evict the blocks that the state had cached.
	for _ in 1 2 3 4; do
		./blockdata same /dev/mapper/nc -f "$O" -s $((n % 4 * 7680)) -n 4096 || fail "state $n"
		dmsetup message nc 0 invalidate $((n * 800)) 50 || fail "invalidate"
	done
	is damaged 0
	evicted=$((evicted + $(field evictions)))
	echo "state $n: $blocks blocks, $older torn pages, $(field commits) commits"
	stop
	for name in cache origin logged log; do
		dm_remove $name
	done
	n=$((n + 1))
done </run-it/remote.img.list
same "states" $n $samples
((evicted)) || fail "nothing was evicted"
echo "$evicted blocks evicted"
END
truncate -s $((samples * (mib + log_mib)))M "$crashes"
boot again --timeout $((${SOAK:+10 *} 200))
for ((n = 0; n < samples; n++)); do
	dd if="$crashes" of="$HOST_DIR/base.img" bs=1M skip=$((n * mib)) count=$mib status=none
	dd if="$crashes" of="$HOST_DIR/log.img" bs=1M skip=$((samples * mib + n * log_mib)) \
		count=$log_mib status=none
	"$BUILD/crash/crash" -r "$HOST_DIR/base.img" "$HOST_DIR/log.img" $origin $again \
		$((seed + n)) | tee "$HOST_DIR/said"
	tail -n 1 "$HOST_DIR/said" >"$CHECK_OUT/$KERNEL/crash-again-$n.json"
done
