#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 'nearcache events' lists what the kernel log has, and with -f each change of a device as one line:
# opened, ranges, the state, and closed. Each line of -j is a JSON document. A reload of the module ends nothing.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

# heard TEXT: the listener has printed it.
heard() {
	grep -q -- "$1" "$TMPDIR/events"
}

hears() {
	wait_for 30 heard "$1" || fail "no '$1' in: $(<"$TMPDIR/events")"
}

ended() {
	kill "$listener" 2>/dev/null
	wait "$listener" 2>/dev/null
	return 0
}

# listening PID: its socket for uevents is open.
listening() {
	grep -q "^[^ ]* *15 *$1 " /proc/net/netlink
}

make_null O origin 16
make_null B base 24
make_dm C local "0 $((24 << 11)) linear $B 0"
good create early --origin "$O" --cache "$C" --force
nearcache close early >/dev/null
bad 1 'add --follow' events --count 1
nearcache events -f -j >"$TMPDIR/events" 2>"$TMPDIR/errors" &
listener=$!
at_exit ended
wait_for 30 listening "$listener" || fail "no process has the socket of uevents open: $(<"$TMPDIR/errors")"
good create nc --origin "$O" --cache "$C" --force
at_exit dm_gone nc
hears '"name":"nc","event":"opened"'
at_exit rm -f /var/lib/nearcache/pins/nc.json /var/lib/nearcache/pins/again.json
good pin nc 0-1M --no-load
hears '"name":"nc","event":"ranges"'
dmsetup suspend --noudevsync nc
dmsetup resume --noudevsync nc
hears '"name":"nc","event":"resumed"'
dd if=/dev/mapper/nc of=/dev/null bs=64K count=64 iflag=direct 2>/dev/null
settle
becomes local "0 $((24 << 11)) error"
dd if=/dev/mapper/nc of=/dev/null bs=64K count=64 iflag=direct 2>/dev/null
hears '"event":"state","text":"bypass, '
good close nc
hears '"name":"nc","event":"closed"'
# The listener hears the module after a reload, too. A write to a device causes no event.
rmmod dm-nearcache && modprobe dm-nearcache || fail "the module is not reloaded"
becomes local "0 $((24 << 11)) linear $B 0"
old=$(dmesg | grep -c 'device-mapper: nearcache: ')
good create again --origin "$O" --cache "$C" --force
at_exit dm_gone again
hears '"name":"again","event":"opened"'
echo change >"/sys/class/block/$(basename "$(readlink -f /dev/mapper/again)")/uevent"
good pin again 0-1M --no-load
hears '"name":"again","event":"ranges"'
! heard '"name":"again","event":"resumed"' || fail "a resume without one: $(<"$TMPDIR/events")"
# Lines of the device that had the number before have no name.
good events -j
named=$(grep -o '"name":"again","event":"log"' <<<"$out" | wc -l)
new=$(($(dmesg | grep -c 'device-mapper: nearcache: ') - old))
((named && named <= new && old)) || fail "$named lines have the name of a device with $new, after $old: $out"
good close again
ended
! type -P jq >/dev/null || [[ $(jq -r .schema "$TMPDIR/events" | sort -u) == 1 ]] || fail "not JSON: $(<"$TMPDIR/events")"
# The kernel log, for people; the number of new events ends the listener.
good events
[[ $out == *'  log: '* ]] || fail "events: $out"
nearcache events --follow --count 1 two >"$TMPDIR/events" &
listener=$!
wait_for 30 listening "$listener" || fail "no process has the socket of uevents open"
good create other --origin "$O" --cache "$C" --force
good close other
at_exit dm_gone two
good create two --origin "$O" --cache "$C" --force
wait "$listener" || fail "exit $?"
[[ $(tail -n 1 "$TMPDIR/events") == *'  two  opened' ]] || fail "events: $(<"$TMPDIR/events")"
good close two
