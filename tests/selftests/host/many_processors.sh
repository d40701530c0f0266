#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A guest has 72 possible processors, three of them online. Readers on processors 71 and 0 follow a plan.
# All notes are applied, also those that wait when processor 71 goes offline.
# kernels: 6.12
# when: soak
set -euo pipefail

cat >"$HOST_DIR/readers.sh" <<'END'
cpu=/sys/devices/system/cpu
insmod "$MODULE" || fail "insmod"
[[ $(<$cpu/possible) == 0-71 && $(<$cpu/online) == 0-1 ]] || fail "processors: $(grep . $cpu/{possible,online})"
echo 1 >$cpu/cpu71/online || fail "no processor 71"
BLOCK=65536 alone=1
fresh 16 9
mapfile -t starts < <(order 3 5 20)

# read_on CPU START...: read these blocks on this processor.
read_on() {
	local start
	for start in "${@:2}"; do
		taskset -c "$1" ./blockdata read $NC -s $((start / 512)) -n 128 >/dev/null || fail "wrong data at $start"
	done
}

# is_freed: has the plan ended, so that it is freed? Unlike a request, this applies no notes.
is_freed() {
	grep -q nc_freed: $TRACE/trace
}

# Processor 71 makes the first and the last third of the visits, processor 0 the second.
plan_of "${starts[@]}"
probe 'p:nc_freed dm_nearcache:nc_belady_destroy'
echo 1 >$TRACE/events/kprobes/enable
read_on 71 "${starts[@]:0:20}"
read_on 0 "${starts[@]:20:20}"
read_on 71 "${starts[@]:40:19}"
get
says position 59
says skipped 0
says astray 0
! is_freed || fail "the plan ended early"
read_on 71 "${starts[59]}"
echo 0 >$cpu/cpu71/online || fail "processor 71 does not go"
wait_for 30 is_freed || fail "the plan did not end: $(get; echo "$out")"
get
says state 2
says position 60
says skipped 0
same "hits and misses" $(($(value hits) + $(value misses))) 60
stop
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --cpus 72 --append maxcpus=2 --timeout 220 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp && . ./kprobes.sh && . ./planned.sh && . /boot/readers.sh"
