#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 'prefetch --from-peers' fills the cache of a node that was replaced with data of its peers, and
# asks the origin for nothing. It brings only this node's part, into free blocks.
# kernels: 6.12
# when: soak
. ./joining.sh

# blocks: print how many blocks of the volume have their first home on node a.
blocks() {
	./cluster_homes -l $((16 * 16)) a:1 b:1 c:1 | awk '$1 == "a"' | wc -l
}

# replaced: node a gets an empty cache.
replaced() {
	good close a-home
	dd if=/dev/zero of="$C" bs=1M count=1 oflag=direct 2>/dev/null || fail "dd"
	good create a-home --origin "$O" --cache "$C" --block-size 64K --read-only
}

# hardly_asked: fail if the volume served more than measurements of its speed.
hardly_asked() {
	(($(origin_delta) <= 256 << 10)) || fail "$(origin_delta) bytes from the volume"
}

make_null O origin 16
./blockdata write "$O"
at_exit alone
conf a:4420 b:4421 c:4422
make_null C cachea 12
at_exit dm_gone a-home
at_exit left a
good create a-home --origin "$O" --cache "$C" --block-size 64K --read-only
node_cache b
node_cache c
joins a
joins b -j
expect from_peers_bytes 0
joins c
joins a
joins b
await a b up
await a c up
bad 1 "for a cluster device" prefetch a-home --from-peers
bad 1 "exclude each other" prefetch a --from-peers --cluster
# While node a is away, its peers take its part over.
run cluster leave a
[[ $rc == 0 ]] || fail "leave: $err"
conf b:4421 c:4422
joins b
joins c
await b c up
await c b up
right b
settle b-home
settle c-home
replaced
conf a:4420 b:4421 c:4422
joins b
joins c
joins a --no-warm
await a b up
await a c up

part=$(($(blocks) * 65536))
((part > 0)) || fail "node a is no home"
good prefetch a --from-peers --dry-run -j
expect home_bytes $part from_peers_bytes $part no_peer_bytes 0 no_room_bytes 0
is bytes_valid 0 a-home
origin_mark
good prefetch a --from-peers --wait -j
expect home_bytes $part from_peers_bytes $part state 'done'
hardly_asked
is bytes_valid $part a-home
is fill_peer_bytes $part a-home
right a
hardly_asked
# Again: everything is there. A part was lost: only that comes. Named ranges: only their part.
good prefetch a --from-peers --wait -j
expect from_peers_bytes 0 no_room_bytes 0
is fill_peer_bytes $part a-home
run invalidate a-home --range 0:1M
[[ $rc == 0 ]] || fail "invalidate: $err"
good prefetch a 0-1M --dry-run -j
lost=$(json home_bytes)
good prefetch a --from-peers --wait -j
expect from_peers_bytes $lost state 'done'
is fill_peer_bytes $((part + lost)) a-home
good prefetch a 0-1M --from-peers --dry-run -j
expect target_bytes $((1 << 20)) from_peers_bytes "$(json home_bytes)"
# The join itself begins to warm the cache.
good cluster leave a
replaced
origin_mark
joins a -j
expect created true from_peers_bytes $part no_peer_bytes 0 not_at_peers_bytes 0
is_warm() {
	[[ $(field bytes_valid a-home) == "$part" ]]
}
wait_for 40 is_warm || fail "not warm: $(nearcache jobs a)"
hardly_asked
bad 1 "it is for join" cluster status a --from-peers
bad 1 "exclude each other" cluster join a --from-peers --no-warm
# A cache that is almost full gets no more than it has room for.
good cluster leave a
replaced
joins a --no-warm
await a b up
await a c up
./blockdata read /dev/mapper/a-home -n $((10 * 2048)) || fail "wrong data"
settle a-home
good prefetch a --from-peers --dry-run -j
(($(json no_room_bytes) > 0 && $(json from_peers_bytes) <= ($(field blocks a-home) - $(field blocks_used a-home)) * 65536)) ||
	fail "room: $out"
# Without peers nothing is brought.
for node in b c; do
	run cluster leave "$node"
	[[ $rc == 0 ]] || fail "leave: $err"
done
state_gone() {
	[[ $(state a b) != up && $(state a c) != up ]]
}
right a
wait_for 40 state_gone || fail "peers are up"
good prefetch a --from-peers --dry-run -j
expect from_peers_bytes 0
(($(json no_peer_bytes) > 0)) || fail "peers: $out"
