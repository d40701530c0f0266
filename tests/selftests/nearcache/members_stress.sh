#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Threads read and write a cache on three devices everywhere, in both writing modes, while tables
# are reloaded, the device is suspended, data is invalidated, and a member fails and is taken back.
# No read may return wrong data.
# kernels: 6.1
# timeout: 240
# when: soak
. ./several.sh
. ./stressing.sh

size=$((32 * 2048))
make_null base origin 32 discard=1 completion_nsec=1000000
make_dm O slow-origin "0 $size delay $base 0 1 $base 0 2"
several 3 3 4
last=${members[2]}
make_dm device slice "0 $(sectors "$last") linear $last 0"
members[2]=$device
behind "${members[@]:1}"
./stress init "$base" "$TMPDIR/model"
format_several --integrity crc32c
MODE=writearound start
make_dm twin twin "0 $size linear /dev/mapper/nc 0"
stress_begin "$twin"
for ((i = 0; i < $(times 2); i++)); do
	MODE=writethrough reload || fail "reload to writethrough"
	go_on 50 writethrough
	dmsetup message nc 0 invalidate all || fail "invalidate all"
	go_on 50 invalidate all
	dmsetup suspend nc || fail "suspend"
	dmsetup resume nc || fail "resume"
	go_on 50 suspend
	dmsetup load --noudevsync slice --table "0 $(sectors "$last") error" &&
		dmsetup resume --noudevsync slice || fail "slice fails"
	go_on 50 "a device that fails"
	dmsetup load --noudevsync slice --table "0 $(sectors "$last") linear $last 0" &&
		dmsetup resume --noudevsync slice || fail "slice works"
	MODE=writearound reload || fail "reload"
	is state 0
	go_on 50 writearound
done
stress_end || fail "wrong: $(cat "$TMPDIR/log")"
settle
above writes 0
