#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# CVE-2026-53062 of dm-cache: it invalidated blocks without the policy's lock while the policy moved
# them. Here messages invalidate one block, some or all, while writers and readers want more slots
# than the cache has. All reads must be right, and no slot may be lost or have two blocks.
# kernels: 6.12
# cpus: 1
# when: soak
. ./cache.sh

load_end() {
	touch "$TMPDIR/stop"
	wait "$load" || fail "wrong: $(tail -n 5 "$TMPDIR/log")"
	load=''
}

load_kill() {
	touch "$TMPDIR/stop"
	[[ ! $load ]] || wait "$load"
}

invalidate() {
	dmsetup message nc 0 invalidate "$@" || fail "invalidate $*"
}

# invalidate_some: one block, then a quarter of the origin.
invalidate_some() {
	invalidate $((RANDOM % 128 * 128)) 128
	invalidate $((RANDOM % 96 * 128)) $((32 * 128))
}

# raced: invalidate once more; have evictions, fills and invalidations happened often enough?
raced() {
	invalidate_some
	(($(field evictions) > 4 && $(field fills) > 200 && $(field invalidated_bytes) > 8 << 20))
}

# whole: reads fill every slot again, so no slot was lost. A suspend then stops eviction.
whole() {
	dmsetup resume --noudevsync nc || fail "resume"
	./stress verify /dev/mapper/nc "$TMPDIR/model" >/dev/null || fail "wrong"
	dmsetup suspend --noudevsync nc || fail "suspend"
	(($(field bytes_valid) == $(field blocks) * 65536))
}

make_null O origin 8 completion_nsec=100000
make_null C local 4 completion_nsec=100000
./stress init "$O" "$TMPDIR/model" || fail "init"
format
MODE=writethrough start
# Random reads leave no block idle, so a range with evict-after-use lets reclaim evict.
./genl range-add name=nc "range=start=0,length=$((8 << 20)),label=passing,flags=4" >/dev/null || fail "range-add"
./stress run /dev/mapper/nc "$TMPDIR/model" -s 600 -t 4 -f "$TMPDIR/stop" >"$TMPDIR/log" 2>&1 &
load=$!
at_exit load_kill
for ((round = 0; round < $(times 6); round++)); do
	invalidate_some
	((round % 4)) || invalidate all
done
wait_for 60 raced || fail "too few operations happened: $(dmsetup status nc)"
load_end
dmsetup status nc
is state 0
invalidate all
is bytes_valid 0
wait_for 20 whole || fail "not all slots hold data: $(dmsetup status nc)"
is blocks_used "$(field blocks)"
stop
start
is slots_dropped 0
is pages_damaged 0
is blocks_warm "$(field blocks)"
is bytes_valid $(($(field blocks) * 65536))
./stress verify /dev/mapper/nc "$TMPDIR/model" || fail "wrong after the restart"
./stress verify "$O" "$TMPDIR/model" || fail "the origin differs from the data that was read"
