#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A node that joins warms by itself from the map of its peer: the data that was read last comes first
# when there is little room, and the origin is asked for nothing, not even by the peer.
# kernels: 6.12
. ./joining.sh

# holds EXTENT: node a has this extent.
holds() {
	[[ $(./genl residency-get name=a-home start=$(($1 * 65536)) length=65536) == *cached-bytes=65536* ]]
}

make_null O origin 16
./blockdata write "$O"
at_exit alone
conf b:4421
node_cache b
joins b -j
expect created true from_peers_bytes 0
# Node b caches 10 of 16 MiB, and reads the third one again later.
./blockdata read /dev/mapper/b -n $((10 * 2048)) || fail "wrong data"
./blockdata read /dev/mapper/b -s $((4 * 2048)) -n $((6 * 2048)) || fail "wrong data"
./blockdata read /dev/mapper/b -s $((2 * 2048)) -n 2048 || fail "wrong data"
settle b-home
CONF='bandwidth = 8Gb/s' conf a:4420 b:4421
joins b
make_null C cachea 5
at_exit dm_gone a-home
at_exit left a
good create a-home --origin "$O" --cache "$C" --block-size 64K --read-only
origin_mark
joins a --no-warm -j
expect created true from_peers_bytes 0
[[ -b /dev/mapper/a-map ]] || fail "node a has no map"
good cluster leave a
[[ ! -e /dev/mapper/a-map ]] || fail "the map stays"
joins a -j
brought=$(json from_peers_bytes)
((brought && $(json no_room_bytes) && $(json not_at_peers_bytes))) || fail "join: $out"
[[ $(./genl job-get name=a-home job=id=1) == *job.bandwidth=1000000000* ]] || fail "no limit: $(nearcache jobs a)"
# The last free blocks are kept for readers.
is_warm() {
	(($(field bytes_valid a-home) >= brought - 4 * 65536))
}
wait_for 40 is_warm || fail "not warm: $(nearcache jobs a)"
# Joins look at the volume, and the cluster device measures its latency.
(($(origin_delta) <= 512 << 10)) || fail "$(origin_delta) bytes from the volume"
here=0
while read -r extent; do
	holds "$extent" || fail "node a lacks extent $extent, which was read last"
	here=$((here + 1))
done < <(./cluster_homes -l $((16 * 16)) a:1 b:1 | awk '$1 == "a" && NR > 32 && NR <= 48 { print NR - 1 }')
((here)) || fail "no extent has its home here"
# A join of a device that exists warms nothing.
joins a -j
expect created false from_peers_bytes 0
right a
