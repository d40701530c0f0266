#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache device that leaves a session that writes, and comes back later as if nothing had
# been: the witness knows. Nothing is an error for the writer, unless the witness leaves, too.
# kernels: 6.12
# cpus: 1
. ./witnessed.sh

MODE=writethrough

# becomes NAME TABLE: another device behind that name.
becomes() {
	dmsetup suspend --noflush --nolockfs "$1" && dmsetup load "$1" --table "$2" &&
		dmsetup resume "$1" || fail "$1 does not change"
}

# goes NAME: all is ready for it to be gone; gone NAME: it is.
goes() {
	dmsetup load "$1" --table "0 $(sectors "/dev/mapper/$1") error" || fail "load"
}

gone() {
	dmsetup suspend --noflush --nolockfs "$1" && dmsetup resume "$1" || fail "$1 does not go"
}

# there NAME DEV
there() {
	becomes "$1" "0 $(sectors "$2") linear $2 0"
}

put() {
	./blockdata write "$NC" -s "$1" -n "$2" -g "$3"
}

make_null O origin 16
make_null c local 24
make_null w witness 1
make_dm C cache "0 $(sectors "$c") linear $c 0"
make_dm W witness "0 $(sectors "$w") linear $w 0"

# Pulled out, the origin written, a power cut, plugged in again.
session
# A commit by itself, 4 s after the first write, is not to find it.
goes cache
put $((region * 2)) 8 2 || fail "write"
gone cache
put $((region * 5)) 8 2 || fail "write"
same "said" "$(./intent "$c" said "$w" 0)" "3 0 2"
is witness 2
is state 1
is reason 7
get $((region * 5)) 8 2
# Power cut: nothing reaches the medium at the stop.
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

# The same, and it comes back before it is noticed anywhere else.
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

# It hangs, which it does not say: a write waits for it no longer than a hit would.
session
stop
start nc "4 cache_timeout 300 witness $W"
dmsetup suspend --noflush --nolockfs cache
put $((region * 7)) 8 2 || fail "write"
is witness 2
same "said" "$(./intent "$c" said "$w" 0)" "5 0 2"
dmsetup resume cache
get $((region * 7)) 8 2
# A stop that comes to its end says all that has to be known.
stop
start nc "4 cache_timeout 0 witness $W"
is loaded 2
get $((region * 7)) 8 2
is witness 1
stop

# When the witness cannot be read, what was stopped clean may be a copy from before.
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

# The witness alone is gone: nobody notices, until a session begins.
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

# Both: what neither could be told of may not be written.
goes witness
goes cache
put $((region * 2)) 8 2 || fail "write"
gone witness
gone cache
! put $((region * 5)) 8 3 2>/dev/null || fail "written, though nobody was told"
get $((region * 5)) 8 1
above write_errors 0
# The next one asks again.
there witness "$w"
put $((region * 5)) 8 2 || fail "write"
is witness 2
get $((region * 5)) 8 2
# A reload needs no cache device that can be told: the witness was.
reload "4 cache_timeout 0 witness $W" || fail "reload"
put $((region * 6)) 8 2 || fail "write"
get $((region * 6)) 8 2
stop
there cache "$c"
start nc "4 cache_timeout 0 witness $W"
is loaded 3
get $((region * 2)) 8 2
stop
