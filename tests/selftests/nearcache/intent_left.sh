#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache device leaves a write session and comes back later with the content from before. By the
# witness record it must then be cold. Writers get an error only if the witness leaves as well.
# kernels: 6.12
# cpus: 1
# when: soak
. ./witnessed.sh

MODE=writethrough

# goes NAME: prepare the removal of the device; gone NAME: remove it.
goes() {
	dmsetup load "$1" --table "0 $(sectors "/dev/mapper/$1") error" || fail "load"
}

gone() {
	dmsetup suspend --noflush --nolockfs "$1" && dmsetup resume "$1" || fail "$1 does not go"
}

# there NAME DEV: plug the device in again: NAME maps DEV.
there() {
	becomes "$1" "0 $(sectors "$2") linear $2 0"
}

make_witnessed

# The cache device is pulled, the origin written, the power fails, and the device is back: cold.
session
# Prepare the removal: a commit comes 4 s after the first write and must not find the device gone.
goes cache
put $((region * 2)) 8 2 || fail "write"
gone cache
put $((region * 5)) 8 2 || fail "write"
same "said" "$(./intent "$c" said "$w" 0)" "3 0 2"
is witness 2
is state 1
is reason 7
get $((region * 5)) 8 2
# Power cut: the stop writes nothing to the medium.
stop
there cache "$c"
same "state on the medium" "$(./sbset "$c" get state)" 3
start nc "4 cache_timeout 0 witness $W"
is loaded 3
is bytes_valid 0
get $((region * 2)) 8 2
get $((region * 5)) 8 2
is witness 1
stop

# The same, but the device is back before anything except a write noticed that it was gone.
session
goes cache
gone cache
put $((region * 5)) 8 2 || fail "write"
there cache "$c"
reload "4 cache_timeout 0 witness $W" || fail "reload"
is state 0
is loaded 3
is bytes_valid 0
is witness 1
get $((region * 5)) 8 2
stop

# The cache device hangs: a write waits for its mark no longer than cache_timeout, as a hit does.
session
stop
start nc "4 cache_timeout 300 witness $W"
dmsetup suspend --noflush --nolockfs cache
put $((region * 7)) 8 2 || fail "write"
is witness 2
same "said" "$(./intent "$c" said "$w" 0)" "5 0 2"
dmsetup resume cache
get $((region * 7)) 8 2
# A clean stop completes the record of the session, so the next start is warm.
stop
start nc "4 cache_timeout 0 witness $W"
is loaded 2
get $((region * 7)) 8 2
is witness 1
stop

# The witness cannot be read: even a cleanly stopped cache device may be an older copy, so cold.
session
stop
goes witness
gone witness
start nc "4 cache_timeout 0 witness $W"
is loaded 3
is bytes_valid 0
get $((region * 7)) 8 1
stop
there witness "$w"

# Only the witness is gone: the cache notices this at the begin of the next session.
session
goes witness
gone witness
put $((region * 7)) 8 2 || fail "write"
is witness 1
written_down
is witness 2
same "state on the medium" "$(./sbset "$C" get state)" 1
put $((region * 8)) 8 2 || fail "write"
there witness "$w"
written_down
is witness 1
same "state on the medium" "$(./sbset "$C" get state)" 3

# Cache device and witness are gone: a write that neither can record is refused.
goes witness
goes cache
put $((region * 2)) 8 2 || fail "write"
gone witness
gone cache
! put $((region * 5)) 8 3 2>/dev/null || fail "a write succeeded that neither device could record"
get $((region * 5)) 8 1
above write_errors 0
# The witness is back: the next write records the session on the witness and succeeds.
there witness "$w"
put $((region * 5)) 8 2 || fail "write"
is witness 2
get $((region * 5)) 8 2
# A reload works without the cache device: the witness already records that the device left.
reload "4 cache_timeout 0 witness $W" || fail "reload"
put $((region * 6)) 8 2 || fail "write"
get $((region * 6)) 8 2
stop
there cache "$c"
start nc "4 cache_timeout 0 witness $W"
is loaded 3
get $((region * 2)) 8 2
stop
