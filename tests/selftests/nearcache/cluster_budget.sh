#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cluster device reads at most as many bytes per second at peers as its bandwidth allows. Reads of
# the local cache do not wait. A new bandwidth and a suspend send the reads that wait.
# kernels: 6.12
# cpus: 1
. ./cluster.sh

# waited: print the number of reads that waited for the bandwidth.
waited() {
	dmsetup status cl | awk '{ print $NF }'
}

# bytes_at_peers: print the bytes that were read at peers.
bytes_at_peers() {
	echo $(($(node bytes 1) + $(node bytes 2) + $(node bytes 3)))
}

# milliseconds COMMAND...: run it and print how long it took.
milliseconds() {
	local begun=${EPOCHREALTIME/./}
	"$@" >/dev/null || fail "$*"
	echo $(((${EPOCHREALTIME/./} - begun) / 1000))
}

MB=$((1 << 20))
fresh_cluster 16 "2 bandwidth $((4 * MB))"
same "reads that waited" "$(waited)" 0
took=$(milliseconds right -t 4 -b 64)
least=$(($(bytes_at_peers) * 1000 / (4 * MB) - 100))
((took >= least)) || fail "$(bytes_at_peers) bytes in $took ms, expected $least"
(($(waited) > 100)) || fail "only $(waited) reads waited"
# Reads that must not wait are told to come back.
right -w -t 2 -n 4096
[[ $(dmsetup table cl) == *" 2 bandwidth $((4 * MB))" ]] || fail "line: $(dmsetup table cl)"
! dmsetup message cl 0 set bandwidth 5 2>/dev/null || fail "a bandwidth of 5 was accepted"

# Readers at the lowest bandwidth, with reads that wait for seconds. All peers are used.
queued=$TMPDIR/queued
readers() {
	dmsetup message cl 0 set bandwidth "$MB" || fail "set"
	before=$(waited)
	./blockdata read /dev/mapper/cl -t 64 -b 64 >"$queued" &
	reader=$!
	wait_for 20 many_wait || fail "only $(($(waited) - before)) reads waited"
}
many_wait() {
	(($(waited) >= before + 32))
}
readers
dmsetup message cl 0 set bandwidth 0 || fail "no bandwidth"
before=$(waited)
wait $reader || fail "readers: $(tail -n 3 "$queued")"
same "reads that waited without a limit" "$(waited)" "$before"
[[ $(dmsetup table cl) != *bandwidth* ]] || fail "line: $(dmsetup table cl)"
readers
dmsetup suspend cl || fail "suspend"
for i in 1 2 3; do
	same "reads in flight at node $i" "$(node begun "$i")" "$(node ended "$i")"
done
dmsetup resume cl || fail "resume"
dmsetup message cl 0 set bandwidth 0 || fail "no bandwidth"
wait $reader || fail "readers: $(tail -n 3 "$queued")"
dm_remove cl || fail "remove"
