#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With integrity=crc32c no reader gets data that the cache device damaged. The cache invalidates,
# logs and fills again the damaged sub-block, and raises an event. Sound data must not be reported.
# kernels: 6.12
# cpus: 1
. ./cache.sh
INTEGRITY=crc32c

# damage N: fail unless N sub-blocks were found damaged since the last call.
damage() {
	local now
	now=$(field damaged)
	same "sub-blocks found damaged (line ${BASH_LINENO[0]})" $((now - damaged)) "$1"
	damaged=$now
}

fresh 16 24
. ./spoil.sh
damaged=0
is integrity 1
blockdev --setra 0 /dev/mapper/nc
in_order
all_hits
all_hits -b 8
all_hits -b 1:200 -r 300
all_hits -B
all_hits -w
all_hits -m
damage 0

# Damage a whole sub-block, a part of one, several of one read, and a whole block: with each kind of
# read, readers must get the origin's data, and the next read must hit.
for options in "-b 128" "-b 3 -a 1" -B "-b 8 -w"; do
	spoil 1000 8
	spoil 1030 1
	spoil 2048 128
	events=$(dmsetup info -c --noheadings -o events nc)
	# shellcheck disable=SC2086 # words
	check -n 4096 $options >/dev/null
	settle
	damage 18
	[[ $(dmsetup info -c --noheadings -o events nc) != "$events" ]] || fail "no dm event"
	# shellcheck disable=SC2086 # words
	all_hits $options
	damage 0
done
is state 0
dmesg | grep -q "sectors from 1000 on are not what was cached: dropped" || fail "the log is silent"

# Many readers of one damaged block in parallel.
spoil 256 128
check -s 256 -n 128 -b 8 -r 200 -t 8 >/dev/null
settle
damage 16
all_hits

# A reader overwrites the buffer of its own read: the module must not report that as damage.
for ((i = 0; i < $(times 10); i++)); do
	./scribbler /dev/mapper/nc 65536 32 || fail "the scribbling reader"
done
settle
damage 0
all_hits

# A stop writes the checksums. Data of a damaged checksum sector must come from the origin.
stop
start
blockdev --setra 0 /dev/mapper/nc
is loaded 2
all_hits
damaged=0
damage 0
stop
sums=$(./sbset "$C" get 'area[3].offset')
dd if=/dev/urandom of="$C" bs=512 seek=$((sums / 512)) count=1 conv=notrunc,fsync status=none
start
check -n 4096 >/dev/null
settle
# A checksum sector holds the checksums of 128 sub-blocks: 8 blocks of 16.
damage 128
all_hits
# Damage done while the cache is stopped is also found.
stop
spoil 700 2
start
damaged=0
check -n 4096 >/dev/null
damage 1

# A write leaves whole sub-blocks cached; sub-blocks written in part lose their valid bits.
MODE=writethrough reload
damaged=$(field damaged)
./blockdata write /dev/mapper/nc -s 1 -n 30 -g 2
./blockdata write /dev/mapper/nc -s 256 -n 256 -g 2
settle
# The write covers two of its five sub-blocks only in part.
is bytes_valid $((4096 * 512 - 2 * 4096))
for i in 1 2; do
	check -s 0 -n 1
	check -s 1 -n 30 -g 2
	check -s 31 -n 225
	check -s 256 -n 256 -g 2
	check -s 512 -n 3584
	settle
done
is bytes_valid $((4096 * 512))
damage 0
stop

# The origin ends inside a sub-block: its last sectors must be cached and checked as well.
make_dm O short "0 32763 linear $O 0"
./blockdata write "$O"
format
start
check -s 32700 -n 63 >/dev/null
settle
check -s 32700 -n 63 >/dev/null
check -s 32752 -n 11 -b 1 >/dev/null
above hits 10
damaged=0
damage 0
