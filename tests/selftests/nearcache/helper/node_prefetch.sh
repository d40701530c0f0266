#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 'prefetch --cluster' on one node makes all homes warm, and the volume serves each byte once, also when
# it runs on both nodes together. A signal ends it, and an error names the place.
# kernels: 6.12
. ./two_nodes.sh

# cold: empty both caches.
cold() {
	local node
	for node in a b; do
		run invalidate "$node-home"
		[[ $rc == 0 ]] || fail "invalidate $node-home: $err"
	done
	sync
	blockdev --flushbufs "$O"
}

# warm: fail unless both homes have their parts, and reads of either node need no byte of the volume.
warm() {
	local node
	settle a-home
	settle b-home
	for node in a b; do
		good residency "$node" "$TMPDIR/$node/big" -j
		expect ratio 1
	done
	origin_mark
	direct "$TMPDIR"/{a,b}/big
	same "bytes from the volume" "$(origin_delta)" 0
}

# once: the volume served the file once, and hardly more: each device measures how fast it is.
once() {
	local read
	read=$(origin_delta)
	((read >= 4 << 20 && read <= (4 << 20) + (64 << 10))) || fail "$read bytes from the volume, not 4 MiB"
}

volume_made 24
head -c 4m /dev/zero >"$M/big"
nodes_up 24
cd "$TMPDIR/a" || exit

cold
good prefetch a big --cluster --dry-run -j
expect target_bytes $((4 << 20)) peer_bytes $(((4 << 20) - $(json home_bytes))) peer_read_bytes 0
origin_mark
good prefetch a big --cluster --wait -j
json_keys name bytes cluster home_bytes target_bytes peer_bytes peer_read_bytes load state
expect state 'done' peer_bytes "$(json peer_read_bytes)"
once
warm

cold
origin_mark
nearcache prefetch a big --cluster --wait >/dev/null 2>"$TMPDIR/a.err" &
other=$!
good prefetch b "$TMPDIR/b/big" --cluster --wait -j
wait $other || fail "on a: $(<"$TMPDIR/a.err")"
once
warm

# A signal, while the rate makes it take minutes.
cold
nearcache prefetch a big --cluster --bandwidth 64K >"$TMPDIR/said" 2>&1 &
reading=$!
some_read() {
	[[ $(dmsetup status a | awk '{ print $15 }') != "$before" ]]
}
before=$(dmsetup status a | awk '{ print $15 }')
wait_for 20 some_read || fail "nothing is read: $(dmsetup status a)"
kill -TERM $reading
rc=0
wait $reading || rc=$?
[[ $rc == 4 && $(<"$TMPDIR/said") == *"the reads at peers were cancelled: "*" of "*" were read"* ]] ||
	fail "signal: $rc $(<"$TMPDIR/said")"
good cancel a --all

cold
dmsetup message a 0 nodes 2 a 10 - b 10 - || fail "message"
run prefetch a big --cluster --dry-run
[[ $rc == 0 && $err == *"1 of 1 peers take no reads now"*"'nearcache cluster status a'"* ]] || fail "absent: $rc $err"
dmsetup message a 0 nodes 2 a 10 - b 10 /dev/mapper/b-home && wait_for 40 is_up a || fail "message"

becomes origin "0 $(sectors "$FAR") error"
run prefetch a big --cluster
[[ $rc == 4 && $err == *"cannot read the cluster device 'a' at byte "* ]] || fail "broken: $rc $err"
becomes origin "0 $(sectors "$FAR") linear $FAR 0"
good cancel a --all --dry-run
