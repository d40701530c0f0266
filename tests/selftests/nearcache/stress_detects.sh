#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 'stress' must detect each kind of wrong sector, and report none on a sound device; the other
# stress tests rely on this. It runs on a bare device that stress_harm.c damages.
# kernels: 6.12
# when: soak
. ./cache.sh

harm_end() {
	[[ ! ${harm_pid:-} ]] || { kill "$harm_pid"; wait "$harm_pid" || true; }
	harm_pid=''
}

make_null O origin 32 discard=1 completion_nsec=100000
make_dm twin twin "0 $(sectors "$O") linear $O 0"
at_exit harm_end
for kind in stale torn moved flip; do
	./stress init "$O" "$TMPDIR/model"
	./stress_harm "$O" "$kind" 20 &
	harm_pid=$!
	! ./stress run "$O" "$TMPDIR/model" -s 30 -d -z "$twin" >"$TMPDIR/log" ||
		fail "not detected: $kind"
	harm_end
	grep -qE '^WRONG sector 2[01] in$' "$TMPDIR/log" || fail "$kind: $(cat "$TMPDIR/log")"
	sed -n '/^found/{p;q}' "$TMPDIR/log"
done

./stress init "$O" "$TMPDIR/model" -S 5
./stress run "$O" "$TMPDIR/model" -s "$(times 3)" -d -z "$twin" ||
	fail "an error was reported on an undamaged device"
./stress verify "$O" "$TMPDIR/model" || fail "the device differs from the data that was read last"
# One sector has the content that a run on another device wrote: 'stress verify' must detect it.
make_null other other 32
./stress init "$other" "$TMPDIR/other" -S 6
dd if="$other" of="$O" bs=512 seek=30000 skip=30000 count=1 oflag=direct iflag=direct 2>/dev/null
! ./stress verify "$O" "$TMPDIR/model" >"$TMPDIR/log" ||
	fail "not detected: a sector of another device"
grep -q '^found: .*of another device' "$TMPDIR/log" || fail "$(cat "$TMPDIR/log")"
