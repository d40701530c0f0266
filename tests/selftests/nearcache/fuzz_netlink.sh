#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Several processes send random netlink messages (fuzz_netlink.c), while the devices are read,
# suspended, reloaded and removed, and a stage is written. All data must be right, and no process may hang.
. ./stage.sh

seed=1 count=$(times 4000)
[[ ! ${SOAK:-} ]] || seed=$RANDOM
seed=${FUZZ_SEED:-$seed}
echo "FUZZ_SEED=$seed"

# dev NAME: print its device number as netlink encodes it.
dev() {
	local number
	number=$(number "/dev/mapper/$1")
	echo $((${number%:*} << 20 | ${number#*:}))
}

make_null O origin 10
make_null C local 12
make_null O2 second 4
make_null C2 other 8
./blockdata write "$O"
./blockdata write "$O2"
format
format "$C2" "$O2"
start
start nc2 '' "$O2" "$C2"
make_null S third 4
make_null L log 20
./stage_format "$L" "$(sectors "$S")"
at_exit stage_stop
O=$S stage_start
targets="nc,$(dev nc):nc2,$(dev nc2):st,$(dev st)"
verify_begin -b 1:128 -a 1 -r 100
pids=()
for n in 1 2 3; do
	./fuzz_netlink "$targets" "$count" $((seed + n)) >"$TMPDIR/log$n" &
	pids+=($!)
done
rounds=0
while kill -0 "${pids[@]}" 2>/dev/null; do
	dmsetup suspend nc && dmsetup resume nc || fail "suspend"
	stop nc2
	start nc2 '' "$O2" "$C2"
	reload || fail "reload"
	dd if=/dev/zero of=/dev/mapper/st bs=64k count=2 oflag=direct 2>/dev/null || fail "write"
	stage_stop
	O=$S stage_start
	rounds=$((rounds + 1))
done
for n in 1 2 3; do
	wait "${pids[n - 1]}" || fail "FUZZ_SEED=$seed: $(<"$TMPDIR/log$n")"
	cat "$TMPDIR/log$n"
done
echo "$rounds rounds of suspend, remove and reload"
verify_end >/dev/null
check >/dev/null
stop nc2
stop
echo "{\"fuzz_inputs\": $((3 * count))}"
