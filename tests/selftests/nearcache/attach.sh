#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A reload takes back a cache device that was bypassed after errors, without a remount. The cache is
# warm if this host wrote nothing to the origin and no message reported a change during the bypass;
# otherwise the reload drops the cached data.
# kernels: 6.1
# cpus: 1
. ./given_up.sh

# The origin did not change: a reload under readers finds the cache warm.
unchanged() {
	generation=1
	start
	right
	written_down
	./genl range-add name=nc range=start=0,length=$((1 << 20)),label=warm,flags=1 >/dev/null || fail "range-add"
	is blocks_pinned 16
	verify_begin -b 8 -a 1 -t 2
	given_up
	# The cache device still fails: after a reload the cache stays in bypass.
	reload || fail "reload with a device that still fails"
	is state 1
	back 5
	is blocks_warm 64
	is ranges 1
	is blocks_pinned 16
	verify_end
	hits=$(field hits)
	right
	above hits "$hits"
	# The cache device refuses writes, so no session can be recorded: still in bypass.
	given_up
	lies slice unwritable
	reload || fail "reload with a device that cannot be written"
	is state 1
	is reason 4
	right
	# A writing mode, which must record its session, is refused; the old table still starts.
	! MODE=writethrough reload 2>/dev/null ||
		fail "a writing mode was accepted on a cache device that cannot record it"
	MODE=read-only reload || fail "the old table"
	is state 1
	right
	back 5
	stop
}

# A message reports a change while the cache device fails and cannot record it: a reload is cold.
told() {
	generation=1
	start
	right
	written_down
	given_up
	generation=$1
	./blockdata write "$O" -g "$generation"
	! dmsetup message nc 0 invalidate all 2>/dev/null ||
		fail "invalidate succeeded although the cache device still holds the old data"
	back 3
	right
	stop
	start
	is loaded 2
	right
	stop
}

# The origin is written through the device while the cache device fails: a reload is cold.
rewritten() {
	MODE=$1 generation=1
	./blockdata write "$O"
	format
	start
	right
	given_up
	./blockdata write /dev/mapper/nc -g 2 -s 1024 -n 2048
	generation=2
	./blockdata write /dev/mapper/nc -g 2
	lies slice unwritable
	reload || fail "reload with a device that cannot be written"
	is state 1
	right
	back 3
	right
	./blockdata write /dev/mapper/nc -g 3
	generation=3
	right
	stop
	start
	is loaded 2
	right
	stop
}

# A reload puts another cache device in the place of the bypassed one, which is closed.
another() {
	MODE=writethrough generation=4
	start
	./blockdata write /dev/mapper/nc -g 4
	right
	# Ranges belong to the origin: they survive the change of the cache device.
	./genl range-add name=nc range=start=0,length=$((1 << 20)),label=kept,flags=1 \
		range=start=$((2 << 20)),length=4096,label=brief,flags=0,expires=3600 >/dev/null || fail "range-add"
	given_up
	C=$other
	reload || fail "another cache device"
	is state 0
	is loaded 1
	is ranges 2
	is blocks_reserved 16
	same "labels" "$(./genl -d label-get name=nc | sed -n 's/^label.name=//p' | sort | tr '\n' ' ')" "brief kept "
	same "openers of the old one" "$(dmsetup info -c --noheadings -o open slice)" 0
	right
	# In a writing mode, only a bypassed cache device may be replaced: a reload is refused.
	! reload '' "$O" /dev/mapper/slice 2>/dev/null ||
		fail "a healthy cache device in a writing mode was replaced"
	is state 0
	stop
	start
	is loaded 2
	right
	stop
}

make_null O origin 4
make_null local local 12
./blockdata write "$O"
make_null other other 12
format "$other"
make_dm C slice "$(under linear "$local")"
format
unchanged
told 2
rewritten writearound
rewritten writethrough
another
