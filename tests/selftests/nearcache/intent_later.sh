#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Another system used the cache device and its witness in later sessions, unnoticed, as while this one
# slept. Then the cache device leaves this system, which writes to the origin: the next load must not
# trust the cache device, although the other system stopped it cleanly.
# kernels: 6.12
# cpus: 1
. ./witnessed.sh

MODE=writethrough

# save NAME: copy the cache device and the witness; back NAME: restore both.
save() {
	dd if="$c" of="$TMPDIR/$1.c" bs=1M iflag=direct 2>/dev/null &&
		dd if="$w" of="$TMPDIR/$1.w" bs=1M iflag=direct 2>/dev/null || fail "save"
}

back() {
	dd if="$TMPDIR/$1.c" of="$c" bs=1M oflag=direct 2>/dev/null &&
		dd if="$TMPDIR/$1.w" of="$w" bs=1M oflag=direct 2>/dev/null || fail "restore"
}

make_witnessed
session
stop
save before
# The other system:
start nc "4 cache_timeout 0 witness $W"
is loaded 2
stop
read -r later _ _ <<<"$(./intent "$c" said "$w" 0)"
save after
back before
start nc "4 cache_timeout 0 witness $W"
is loaded 2
read -r own _ _ <<<"$(./intent "$c" said "$w" 0)"
((own < later)) || fail "session $own is not before $later"

back after
becomes cache "0 $(sectors "$c") error"
put $((region * 5)) 8 2 || fail "write"
same "said" "$(./intent "$c" said "$w" 0)" "$((later + 1)) 0 2"
is witness 2
stop
becomes cache "0 $(sectors "$c") linear $c 0"
same "state on the medium" "$(./sbset "$c" get state)" 0
start nc "4 cache_timeout 0 witness $W"
is loaded 3
get $((region * 5)) 8 2
is witness 1
stop
