#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Four nodes of a cluster in one guest read all the time and check each byte, while random faults
# happen to their connections over NVMe/TCP, several at the same time: all packets of a connection are
# dropped, its controller is reset, a node ends all connections and listens no more, or refuses them,
# its cache does not answer, it leaves and joins. No read fails or waits longer than the timers say, and
# the nodes use each other again within 30 s after the fault has ended.
#
# host/cluster_faults.sh has fewer faults, among guests that also lose their power.
# CLUSTER_FAULTS is the number of faults (60, in 'make soak' 1000), CLUSTER_SEED chooses them. On a
# machine with other work, CLUSTER_LIMIT allows longer reads than 6000 ms.
# kernels: 6.12
# when: soak
# timeout: 900
set -euo pipefail
faults=${CLUSTER_FAULTS:-$((${SOAK:-0} ? 1000 : 60))} seed=${CLUSTER_SEED:-$RANDOM}

cat >"$HOST_DIR/storm.sh" <<'END'
modprobe dm-nearcache
make_null O origin 16
./blockdata write "$O"
make_dm FAR far "0 $(sectors "$O") delay $O 0 100"
storm_nodes "$FAR"
for i in 0 1 2 3; do
	for j in 0 1 2 3; do
		((i == j)) || link_becomes up 60 $i$j || fail "link $i$j is not up"
	done
	reader_begins $i
done
begin=$SECONDS
storm "$FAULTS"
for i in 0 1 2 3; do
	reader_ends $i
done
echo "$((SECONDS - begin)) s"
storm_judge | tee "$RUN/judged"
grep -h '^reads' "$RUN"/reader.*
for i in 0 1 2 3; do
	nearcache cluster leave "${NAMES[i]}" >/dev/null || fail "leave"
done
[[ ! -e $RUN/wrong ]] || fail "wrong data, or an error: $(grep -hv '^slow' "$RUN"/reader.*)"
[[ ! -e $RUN/problems ]] || fail "$(<"$RUN/problems")"
! grep PROBLEM "$RUN/judged" || fail "reads took too long"
grep -qx "$FAULTS faults" "$RUN/judged" || fail "not $FAULTS faults"
END
echo "$faults faults, seed $seed (CLUSTER_FAULTS=$faults CLUSTER_SEED=$seed repeats their choice)"
"$TOP/tests/vm/run" --kernel "$KERNEL" --timeout $((300 + faults * 8)) --append nvme_core.multipath=N \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp FAULTS=$faults SEED=$seed BACK=30 LIMIT=${CLUSTER_LIMIT:-6000} && . ./storm.sh && . /boot/storm.sh"
