#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Verbs with the name of a cluster device act on exactly the bytes whose home is this node, by the map of
# homes that another program prints: pin, its refresh when nodes change, residency, plan, unpin.
# kernels: 6.12
# cpus: 1
. ./two_nodes.sh

# part_is: the pins of a-home are the part of node a of all ranges, $whole.
part_is() {
	same "pins" "$(pinned a-home)" "$(part_of a <<<"$whole")"
}

volume_made 24
head -c 3m /dev/zero >"$M/big"
head -c 300001 /dev/zero >"$M/odd"
head -c 5000 /dev/zero >"$M/tiny"
nodes_up 24
cd "$TMPDIR/a" || exit

good pin a-home big odd tiny --no-load -j
expect cluster null home_bytes $((3145728 + 300032 + 5120)) target_bytes $((3145728 + 300032 + 5120))
whole=$(pinned a-home)
good unpin a-home big odd tiny
here=$(part_of a <<<"$whole" | bytes) all=$(bytes <<<"$whole")
((here > all / 4 && here < all * 3 / 4)) || fail "uneven: $here of $all"

origin_mark
good pin a big odd tiny --wait -j
json_keys name shard_count ranges bytes cluster home_bytes target_bytes
expect name a-home cluster a bytes "$here" home_bytes "$here" target_bytes "$all" state 'done'
part_is
# The bytes of the file system's own blocks were read at the mount.
(($(origin_delta) <= here + 65536)) || fail "$(origin_delta) bytes from the origin for $here"
good residency a big odd tiny -j
json_keys name cluster home_bytes target_bytes shards ratio nodes node bytes here
expect ratio 1 home_bytes "$here"
good residency a big
[[ $out == *"MiB have their home on this node"*'100.0 %'*"HAVE THEIR HOME THERE"* ]] || fail "residency: $out"
# The other node has at most what the kernel read ahead behind the file system's own blocks.
good residency b-home "$TMPDIR/b/big" -j
(($(json cached_bytes) <= 65536)) || fail "$(json cached_bytes) bytes cached on b"

# A file system on a device above the cluster device.
cd / && umount "$TMPDIR/a" || fail "umount a"
make_dm REPLY above "0 $(sectors "$O") linear /dev/mapper/a 0"
mount -o ro,noload /dev/mapper/above "$M" || fail "mount above"
good residency a "$M"/{big,odd,tiny} -j
expect ratio 1 home_bytes "$here"
umount "$M" && dm_remove above || fail "above"
mount -o ro,noload /dev/mapper/a "$TMPDIR/a" && cd "$TMPDIR/a" || fail "mount a"

# A refresh keeps the part, and follows the nodes.
good pin a --refresh -j
expect moved 0 missing_bytes 0
part_is
dmsetup message a 0 nodes 1 a 10 - || fail "message"
good pin a --refresh -j
same "pins of one node" "$(pinned a-home)" "$whole"
dmsetup message a 0 nodes 2 a 10 - b 10 /dev/mapper/b-home || fail "message"
good pin a --refresh -j
part_is

good plan a big odd -j --dry-run
expect bytes "$(part_of a <<<"$(grep -v ' 5120$' <<<"$whole")" | bytes)"
good plan a big odd -j
expect state running
good plan a --clear
good unpin a big odd tiny --everywhere
[[ $out == *'ON NODE'*$'\nb '*" cd $TMPDIR/a && nearcache unpin a big odd tiny" ]] || fail "everywhere: $out"
same "pins" "$(pinned a-home)" ""
good pin a 0-1M --dry-run --everywhere -j
json_keys everywhere node command
expect node b command 'nearcache pin a 0-1M --dry-run -j'
good prefetch a big --wait -j
expect home_bytes "$(grep ' 3145728$' <<<"$whole" | part_of a | bytes)"

bad 1 "--everywhere is for a cluster device" pin a-home big --everywhere
bad 1 "cannot repeat '--from -'" pin a --from - --everywhere
bad 1 "--rank is not for the cluster device 'a'" prefetch a big --rank 0 --world-size 2
bad 1 "are for a cluster device: 'b-home' is the cache of one node" prefetch b-home big --cluster
bad 4 "is not on device 'b-home'" pin b big
