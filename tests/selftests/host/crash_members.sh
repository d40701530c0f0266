#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Crashes at any moment of a read-only session of a cache on several devices, each of which may lose
# its writes since its own last flush. Whatever the devices and the origin have lost, the kernel
# must load only data that the origin holds, and all that was committed. The same must hold when one
# device returns to an earlier state, unless the kernel rejects it because it does not fit.
#
# The kernel itself starts from some of these states. It must have the predicted blocks cached, or
# name the device that does not fit, and return the origin's data. Its writes are logged as well.
# kernels: 6.12
# timeout: 300
# when: soak
set -euo pipefail

origin=20480 size=6144 # sectors, of the origin and of each of the cache devices
rounds=$((${SOAK:+10 *} 6)) samples=$((${SOAK:+5 *} 3))
states=$((${SOAK:+20 *} 800)) again=$((${SOAK:+5 *} 100))
mib=$(((origin + 3 * size) / 2048)) log_mib=16 # of a state, and of the log of a recovery from it
mkdir -p "$HOST_DIR/first" "$HOST_DIR/again"
cat >"$HOST_DIR/common.sh" <<END
rounds=$rounds origin=$origin size=$size mib=$mib log_mib=$log_mib samples=$samples
END
cat >>"$HOST_DIR/common.sh" <<'END'
. ./several.sh
insmod "$MODULE"
insmod "/logger/$(uname -r)/dm-crash-log.ko" || fail "no logger"
D=$(local_dev)
R=$(remote_backing)

# parts: create $O and $members on the drive.
parts() {
	local i part
	make_dm O part0 "0 $origin linear $D 0"
	members=()
	for i in 1 2 3; do
		make_dm part "part$i" "0 $size linear $D $((origin + (i - 1) * size))"
		members+=("$part")
	done
	C=${members[0]}
}

# logged LOG: put a logger on top of each part.
logged() {
	local i part
	make_dm O logged0 "0 $origin crash-log $O $1 0 0"
	for i in 1 2 3; do
		make_dm part "logged$i" \
			"0 $size crash-log ${members[i - 1]} $1 $i $((origin + (i - 1) * size))"
		members[i - 1]=$part
	done
	C=${members[0]}
	behind "${members[@]:1}"
}

parts_gone() {
	local i
	for i in 3 2 1 0; do
		dm_remove "logged$i"
		dm_remove "part$i"
	done
}
END

# boot NAME OPTIONS...: run the script $HOST_DIR/NAME/NAME.sh in a guest.
boot() {
	cp "$HOST_DIR/common.sh" "$HOST_DIR/$1"
	"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/$1-disks" --local-size ${mib}M \
		--payload "$BUILD/selftests/nearcache:/selftests" --payload "$BUILD/crash/logger:/logger" \
		--payload "$HOST_DIR/$1:/run-it" "${@:2}" -- \
		bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /run-it/common.sh && . /run-it/$1.sh"
}

cat >"$HOST_DIR/first/first.sh" <<'END'
make_dm L log "0 $((1024 * 2048)) linear $R 0"
./blockdata write "$D" -n $origin
parts
format_several --integrity crc32c 2>/dev/null
dd if="$D" of="$R" bs=1M seek=1024 iflag=direct oflag=direct 2>/dev/null || fail "base"
logged "$L"

. ./logged.sh
logger=logged0
start
evicted=0 changed=18400
change $changed 1900
for ((round = 0; round < rounds; round++)); do
	# Fill, evict idle blocks, and re-read the part that changes.
	for _ in 1 2 3 4; do
		check -s $((round % 4 * 4608)) -n 4480 -b 128 -t 4 >/dev/null
		./blockdata read /dev/mapper/nc -s $changed -n 1900 -g $generation -b 1:64 -a 1 -r 10 -t 2 \
			>/dev/null || fail "wrong data"
	done
	verify_begin -s $((round % 4 * 4608)) -n 4480 -b 1:128 -a 1 -r 50 -t 3
	change $changed 1900
	change $((changed + round % 16 * 100)) 300
	verify_end >/dev/null
	settle
	if ((round % 4 == 2)); then
		change $changed 1900 all
	else
		change $changed 1900
	fi
	if ((round % 3 == 2)); then
		evicted=$((evicted + $(field evictions)))
		is damaged 0
		stop
		start
	fi
done
stop
((evicted)) || fail "nothing was evicted"
echo "$evicted blocks evicted"
parts_gone
dm_remove log
END
boot first --remote-size 2G --timeout $((${SOAK:+10 *} 200))
remote=$HOST_DIR/first-disks/remote.img
dd if="$remote" of="$HOST_DIR/base.img" bs=1M skip=1024 count=$mib status=none
truncate -s 1G "$remote"
seed=${CRASH_SEED:-$RANDOM}
echo "CRASH_SEED=$seed"
mkdir -p "$HOST_DIR/again-disks"
crashes=$HOST_DIR/again-disks/remote.img
"$BUILD/crash/crash" -m 3 -s $samples "$crashes" "$HOST_DIR/base.img" "$remote" $origin $states "$seed" |
	tee "$HOST_DIR/said"
tail -n 1 "$HOST_DIR/said" >"$CHECK_OUT/$KERNEL/crash-members.json"
rm -r "$HOST_DIR/first-disks"

cp "$crashes.list" "$HOST_DIR/again"
cat >"$HOST_DIR/again/again.sh" <<'END'
n=0
while read -r _ blocks bytes older differs; do
	dd if="$R" of="$D" bs=1M skip=$((n * mib)) count=$mib iflag=direct oflag=direct 2>/dev/null ||
		fail "dd"
	make_dm L log "0 $((log_mib * 2048)) linear $R $(((samples * mib + n * log_mib) * 2048))"
	parts
	logged "$L"
	dmesg -c >/dev/null
	start
	is pages_damaged 0
	is blocks_warm "$blocks"
	is bytes_valid "$bytes"
	((!differs)) || dmesg | grep -q "member $((differs + 1)) of 3, was not in use with the others" ||
		fail "state $n: number $((differs + 1)) does not fit, and the log says: $(dmesg)"
	./blockdata same /dev/mapper/nc -f "$O" || fail "state $n: not what the origin holds"
	for _ in 1 2; do
		./blockdata same /dev/mapper/nc -f "$O" -s $((n % 4 * 4608)) -n 3000 || fail "state $n"
		dmsetup message nc 0 invalidate $((n * 800)) 50 || fail "invalidate"
	done
	settle
	is damaged 0
	echo "state $n: $blocks blocks, $older torn pages, device $differs differs, $(field commits) commits"
	stop
	parts_gone
	dm_remove log
	n=$((n + 1))
done </run-it/remote.img.list
same "states" $n $samples
END
truncate -s $((samples * (mib + log_mib)))M "$crashes"
boot again --timeout $((${SOAK:+10 *} 100))
n=0
while read -r _ _ _ _ differs; do
	# Skip states that start cold: after a crash in that start, cold is right.
	if ((!differs)); then
		dd if="$crashes" of="$HOST_DIR/base.img" bs=1M skip=$((n * mib)) count=$mib status=none
		dd if="$crashes" of="$HOST_DIR/log.img" bs=1M skip=$((samples * mib + n * log_mib)) \
			count=$log_mib status=none
		"$BUILD/crash/crash" -r -m 3 "$HOST_DIR/base.img" "$HOST_DIR/log.img" $origin $again \
			$((seed + n)) | tee "$HOST_DIR/said"
		tail -n 1 "$HOST_DIR/said" >"$CHECK_OUT/$KERNEL/crash-members-again-$n.json"
	fi
	n=$((n + 1))
done <"$HOST_DIR/again/remote.img.list"
