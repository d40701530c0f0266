#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Crashes at any moment of write sessions with a witness: origin, cache device and witness are parts
# of one logged device. Writers move from one part of the origin to the next, in alternating modes,
# with flushes and stops; readers read, fill and evict the other parts. Whatever a crash leaves, and
# whichever unflushed writes the origin loses, the next start must serve only data that the origin
# holds.
# kernels: 6.12
# timeout: 240
set -euo pipefail

origin=20480 # sectors
rounds=$((${SOAK:+8 *} 5)) states=$((${SOAK:+20 *} 400))
mib=24
room=$((${SOAK:+3 *} 1024)) # MiB for the log, followed by a copy of the initial device
mkdir -p "$HOST_DIR/run"
echo "rounds=$rounds origin=$origin room=$room" >"$HOST_DIR/run/size.sh"
cat >"$HOST_DIR/run/run.sh" <<'END'
insmod "$MODULE"
insmod "/logger/$(uname -r)/dm-crash-log.ko" || fail "no logger"
D=$(local_dev)
L=$(remote_backing)
end=$(($(sectors "$D") - 8))

# parts NAME DEV: create $O, $C and $W on DEV.
parts() {
	make_dm O "$1origin" "0 $origin linear $2 0"
	make_dm C "$1cache" "0 $((end - origin)) linear $2 $origin"
	make_dm W "$1witness" "0 8 linear $2 $end"
}

unpart() {
	local name
	for name in witness cache origin; do
		dm_remove "$1$name"
	done
}

./blockdata write "$D" -n $origin
parts plain- "$D"
INTEGRITY=crc32c format
./intent "$C" witness "$W" 0
unpart plain-
dd if="$D" of="$L" bs=1M seek=$room iflag=direct oflag=direct 2>/dev/null || fail "base"
make_dm logged logged "0 $(sectors "$D") crash-log $D $L"
parts '' "$logged"

agree() {
	./blockdata same /dev/mapper/nc -f "$O" "$@" || fail "not what the origin holds"
}

# cache_timeout 0: the device below may be slow, and the cache would be bypassed.
OPTIONS="4 cache_timeout 0 witness $W"
modes=(writearound writethrough)
writers=4
MODE=writethrough start
agree
for ((round = 0; round < rounds; round++)); do
	first=$((round % 5 * 4096 + 128)) count=$((round % 5 == 4 ? 3840 : 3968))
	pids=() reloaded=''
	# Each writer has its own area: the drive is a file of the host, which, unlike a real
	# drive, tears a sector that is read while it is written.
	for ((n = 0; n < writers; n++)); do
		make_dm part part$n "0 $((count / writers)) linear /dev/mapper/nc $((first + n * (count / writers)))"
		./stress init "$part" "$TMPDIR/model$n" || fail "stress"
		./stress run "$part" "$TMPDIR/model$n" -s 4 -t 1 -S $((round * writers + n)) >"$TMPDIR/log$n" &
		pids+=($!)
	done
	while kill -0 "${pids[0]}" 2>/dev/null; do
		# Read another part, which also fills blocks that were invalidated.
		./blockdata same /dev/mapper/nc -f "$O" -s $(((first + 8192) % 16384)) -n 4096 ||
			fail "not what the origin holds"
		[[ $reloaded ]] || MODE=${modes[round % 2]} reload || fail "reload"
		reloaded=1
	done
	for ((n = 0; n < writers; n++)); do
		wait "${pids[n]}" || fail "stress: $(cat "$TMPDIR/log$n")"
		dm_remove part$n
	done
	agree
	if ((round % 3 == 1)); then
		stop
		MODE=writethrough start
		is loaded 2
	fi
	# Write the ends of the origin, which have a mark of their own.
	if ((round % 2)); then
		./blockdata write /dev/mapper/nc -s 0 -n 64 -g $((round + 2)) || fail "write"
		./blockdata write /dev/mapper/nc -s $((origin - 64)) -n 64 -g $((round + 2)) || fail "write"
	fi
	is witness 1
done
swept() {
	[[ $(field intent_regions) == 0 ]]
}
wait_for 60 swept || fail "marks stay"
is damaged 0
dmsetup status nc
stop
unpart ''
dm_remove logged
END
"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/disks" --local-size ${mib}M --remote-size $((room + 1024))M \
	--timeout $((${SOAK:+10 *} 200)) --payload "$BUILD/selftests/nearcache:/selftests" \
	--payload "$BUILD/crash/logger:/logger" --payload "$HOST_DIR/run:/run-it" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /run-it/size.sh && . /run-it/run.sh"
remote=$HOST_DIR/disks/remote.img
dd if="$remote" of="$HOST_DIR/base.img" bs=1M skip=$room count=$mib status=none
truncate -s "${room}M" "$remote"
seed=${CRASH_SEED:-$RANDOM}
echo "CRASH_SEED=$seed"
"$BUILD/crash/crash" -w "$HOST_DIR/base.img" "$remote" $origin $states "$seed" | tee "$HOST_DIR/said"
tail -n 1 "$HOST_DIR/said" >"$CHECK_OUT/$KERNEL/crash-writing.json"
