#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The power goes while one cache is live and another one was stopped. In the next boot both
# are warm, all of them, and give right data.
# timeout: 180
# kernels: 6.1
set -euo pipefail

# boot NAME [OPTIONS]: run the script on stdin in the guest, with the same drives.
boot() {
	mkdir -p "$HOST_DIR/$1"
	cat >"$HOST_DIR/$1/$1.sh"
	"$TOP/tests/vm/run" --kernel "$KERNEL" --disk-dir "$HOST_DIR/disks" --local-size 96M \
		--remote-size 32M --payload "$BUILD/selftests/nearcache:/selftests" \
		--payload "$HOST_DIR/$1:/boot" "${@:2}" -- \
		bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /boot/common.sh && . /boot/$1.sh"
}

mkdir -p "$HOST_DIR/before" "$HOST_DIR/after"
tee "$HOST_DIR/before/common.sh" >"$HOST_DIR/after/common.sh" <<'END'
insmod "$MODULE"
# A real NVMe/TCP volume; the local drive in halves, a cache on each.
O=$(remote_up) || fail "no remote volume"
at_exit remote_down
half=$(($(sectors "$(local_dev)") / 2))
make_dm stopped left "0 $half linear $(local_dev) 0"
make_dm live right "0 $half linear $(local_dev) $half"
END

boot before --expect-powercut <<'END'
./blockdata write "$O"
for C in "$stopped" "$live"; do
	format
	start
	check
	settle
	is bytes_valid $((32 << 20))
	stop
done
# Warm, and in use when it happens.
C=$live
start
is loaded 2
check -b 8 -r 200
sync
vm-powercut
END
echo '{"process_kills": 1}' >"$CHECK_OUT/$KERNEL/powercut.json"

boot after <<'END'
./blockdata read "$O" || fail "the origin itself is damaged"
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
