#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two nodes join a cluster: they read one volume once, also after one of them was away.
# cpus: 1
. ./joining.sh

make_null O origin 16
./blockdata write "$O"
conf a:4421 b:4422
bad 4 "nearcache create a-home" cluster join a --config "$TMPDIR/conf" --self a
bad 1 "name the local node with --self" cluster join a --config "$TMPDIR/conf"
node_cache a
make_null C cacheb 24
at_exit dm_gone b-home
at_exit left b
joins a --dry-run
! dmsetup info a >/dev/null 2>&1 || fail "a dry run made the device"
alone
joins a
[[ $err == *"node 'b' at 127.0.0.1:4422 is absent"* ]] || fail "absent node: $err"
same "state of b" "$(state a b)" absent
problem a "it is not connected: once '127.0.0.1' port 4422 answers"
bad 1 "leave out --mode" create b --origin "$O" --cache "$C" --cluster "$TMPDIR/conf" --mode writearound
bad 1 "has no node 'x'" create b --origin "$O" --cache "$C" --cluster "$TMPDIR/conf" --self x
good create b --origin "$O" --cache "$C" --block-size 64K --cluster "$TMPDIR/conf" --self b --dry-run
good create b --origin "$O" --cache "$C" --block-size 64K --cluster "$TMPDIR/conf" --self b
joins a -j
expect created false changed true
await a b up
await b a up
origin_mark
right a
right b
# The search for partitions has read some before, and the device measures the speed of the volume.
(($(origin_delta) <= 20 << 20)) || fail "$(origin_delta) bytes from the volume of 16 MiB"
run cluster status a -j
json_keys name cluster node volume extents here_bytes peer_bytes peer_ratio nodes address state share bytes latency_ns problems
expect cluster test node a extents 256
(($(json peer_bytes) > 4 << 20)) || fail "few reads at the peer: $out"
good cluster check a

# The caches stay as they are.
bad 5 "'nearcache cluster leave a' first" close a-home
bad 5 "'nearcache cluster leave a' first" set a-home mode=writethrough --force
bad 5 "'nearcache cluster leave a' first" destroy a-home
exec {open}</dev/mapper/a
bad 5 "process" cluster leave a
exec {open}<&-

# A node that leaves, and comes back.
good cluster leave b
right a
joins b
joins a
await a b up
right a
good cluster leave a
good cluster leave b
bad 4 "there is no cluster device 'a'" cluster leave a
alone
