#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails while one cache is live, a second is stopped, and a third, smaller than the
# dataset, invalidates, fills and commits; the third case is repeated. In the next boot the first
# two caches must have all their data and the third must be warm, and all data must be right.
# timeout: 600
# kernels: 6.1
# when: soak
set -euo pipefail
kills=$((${SOAK:+7 *} 2))

# boot NAME [OPTIONS]: run the script on stdin in the guest, with the same drives.
boot() {
	mkdir -p "$HOST_DIR/$1"
	cp "$HOST_DIR/common.sh" "$HOST_DIR/$1/common.sh"
	cat >"$HOST_DIR/$1/$1.sh"
	"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/disks" --local-size 120M \
		--remote-size 32M --timeout 200 --payload "$BUILD/selftests/nearcache:/selftests" \
		--payload "$HOST_DIR/$1:/boot" "${@:2}" -- \
		bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /boot/common.sh && . /boot/$1.sh"
}

cat >"$HOST_DIR/common.sh" <<'END'
insmod "$MODULE"
# The origin is a real NVMe/TCP volume; each cache is on a part of the local drive.
O=$(remote_up) || fail "no remote volume"
at_exit remote_down
part=$((48 * 2048))
make_dm stopped left "0 $part linear $(local_dev) 0"
make_dm live right "0 $part linear $(local_dev) $part"
make_dm small end "0 $((24 * 2048)) linear $(local_dev) $((2 * part))"

commits() {
	(($(field commits small) > 10))
}

# stir: invalidate cached data and read it again, forever.
stir() {
	local from
	while :; do
		for from in 0 8000 16000 24000 32000 40000 48000 56000; do
			dmsetup message small 0 invalidate $from 4000
			./blockdata read /dev/mapper/small -s $from -n 8000 -t 4 >/dev/null
		done
	done
}

# cut: cut the power while the small cache drops, fills and commits.
cut() {
	stir &
	wait_for 60 commits || fail "nothing is committed"
	sleep "0.$RANDOM"
	vm-powercut
}

# recovered: start the small cache after a power cut; fail unless it is warm and right.
recovered() {
	start small '' "$O" "$small"
	is loaded 5 small
	is pages_damaged 0 small
	above blocks_warm 50 small
	./blockdata same /dev/mapper/small -f "$O" || fail "wrong data"
	is damaged 0 small
}
END

boot before --expect-powercut <<'END'
./blockdata write "$O"
INTEGRITY=crc32c format "$small"
for C in "$stopped" "$live"; do
	format
	start
	check
	settle
	is bytes_valid $((32 << 20))
	stop
done
# The first cache was live at the power cut.
C=$live
start
is loaded 2
check -b 8 -r 200
sync
start small '' "$O" "$small"
cut
END
for ((n = 1; n < kills; n++)); do
	boot again --expect-powercut <<-'END'
		recovered
		cut
	END
done
echo "{\"process_kills\": $kills}" >"$CHECK_OUT/$KERNEL/powercut.json"

boot after <<'END'
./blockdata read "$O" || fail "the origin itself is damaged"
recovered
stop small
C=$stopped
start
is loaded 2
is bytes_valid $((32 << 20))
origin_mark
check -b 64 -t 2
same "origin bytes of the stopped cache" "$(origin_delta)" 0
stop
C=$live
start
is loaded 5
is bytes_valid $((32 << 20))
origin_mark
check -b 64 -t 2
same "origin bytes of the live cache" "$(origin_delta)" 0
stop
start
is loaded 2
is bytes_valid $((32 << 20))
END
