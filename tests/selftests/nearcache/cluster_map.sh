#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The target nearcache-map shows the units that a cache holds at the time of a read, and their heat.
# Nothing can write to it. It answers while the table of the cache is replaced.
. ./cache.sh

# A unit is two blocks: 256 sectors. The volume has 128 units.
UNITS=128

# table [CACHE [UNIT [SECTORS]]]: print the table line.
table() {
	echo "0 ${3:-16} nearcache-map ${1:-/dev/mapper/nc} ${2:-256}"
}

# refused TEXT [WORDS of table]: the constructor refuses the line, and the kernel log says TEXT.
refused() {
	log_mark
	! dmsetup create bad --table "$(table "${@:2}")" 2>/dev/null || fail "accepted: ${*:2}"
	log_since | grep -q "$1" || fail "no '$1' for ${*:2}: $(log_since)"
}

# bytes: print the byte of each unit.
bytes() {
	dd if=/dev/mapper/map bs=4096 skip=1 count=1 iflag=direct status=none | od -An -v -tu1 -w1 -N$UNITS
}

# agree: the shares of some units are those that the netlink family tells.
agree() {
	local unit byte cached
	mapfile -t now < <(bytes)
	for unit in 1 3 5 30 64 127; do
		[[ $(./genl residency-get name=nc start=$((unit << 17)) length=$((1 << 17))) =~ cached-bytes=([0-9]+) ]] ||
			fail "no residency"
		cached=${BASH_REMATCH[1]}
		byte=$((cached == 1 << 17 ? 15 : cached * 14 >> 17 ? cached * 14 >> 17 : !!cached))
		same "share of unit $unit with $cached bytes" $((now[unit] % 16)) $byte
		((cached || !now[unit])) || fail "heat of an empty unit: ${now[unit]}"
	done
}

heat() {
	bytes | awk "NR == $1 + 1 { print int(\$1 / 16) }"
}

fresh 16 24
refused 'Cannot open' /dev/nothing
refused 'No device of the target nearcache' "$O"
refused 'power of two' /dev/mapper/nc 100
refused '1 to 256 blocks' /dev/mapper/nc 64
refused '1 to 256 blocks' /dev/mapper/nc 65536
refused "'0 16'" /dev/mapper/nc 256 8
make_dm MAP map "$(table)"
same table "$(dmsetup table map)" "0 16 nearcache-map $(number /dev/mapper/nc) 256"
same header "$(dd if="$MAP" bs=6 count=1 status=none)" nc-map
same size "$(od -An -tu8 -j16 -N16 "$MAP" | xargs)" "$((16 << 20)) $((128 << 10))"
! dmsetup remove nc 2>/dev/null || fail "the cache below the map was removed"
same 'empty map' "$(bytes | xargs | tr -d ' 0')" ''
# Known reads: two whole units, half of one, a little of one; then anything.
check -n 512
check -s 768 -n 128
check -s 1280 -n 8 -b 8
settle
same shares "$(bytes | head -n 8 | awk '{ print $1 % 16 }' | xargs)" '15 15 0 7 0 1 0 0'
check -r 60 -b 8:64
settle
agree
# The first unit was not read for a while; then it is.
check -s 1024 -n 16384
settle
cold=$(heat 0)
((cold < 14 && $(heat 67) > cold)) || fail "heat: $cold, later $(heat 67)"
check -n 128
same heat "$(heat 0)" 15
# Writes, discards and zeroes fail.
before=$(bytes | md5sum)
for try in "dd if=/dev/zero of=$MAP bs=4096 count=1 oflag=direct" "blkdiscard $MAP" "fallocate -zn -l 4096 $MAP"; do
	! $try 2>/dev/null || fail "succeeded: $try"
done
same map "$(bytes | md5sum)" "$before"
# Tables are replaced under readers of the map.
while [[ ! -e $TMPDIR/stop ]]; do
	[[ $(bytes) ]] || exit 1
done 2>"$TMPDIR/errors" &
reader=$!
for ((i = 0; i < 3; i++)); do
	dmsetup suspend nc && same 'map of a suspended cache' "$(bytes | md5sum)" "$before"
	reload && dmsetup suspend map && dmsetup resume map || fail "replace"
done
touch "$TMPDIR/stop"
wait $reader || fail "the map cannot be read: $(<"$TMPDIR/errors")"
becomes nc "0 $(sectors "$O") error"
[[ ! $(bytes 2>/dev/null) ]] || fail "a map without a cache"
reload || fail "reload"
agree
