#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Four guests are nodes of a cluster, and readers of all of them check each byte. The network of one
# node becomes slow, or damages the data that it sends, or the node has hardly any memory. Readers get
# right data and no error in time; the others avoid the slow node, and read there again later. Without
# 'data-digest' the damage reaches readers, which shows that the network does damage.
# kernels: 6.12
# when: soak
# timeout: 900
# shellcheck disable=SC2086,SC2016 # lists of nodes are several words; steps are for the guest
set -euo pipefail
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"
# keep-alive and fast-io-fail of cluster.conf(5), and a second, in ms.
LIMIT=9000

# Frames of node 3 take 400 ms; then it sends 125 kB per second.
slow_network() {
	readers_begin $NODES
	on 3 'network netem limit 100000 delay 400ms'
	each "1 2 4" 'becomes 3 5'
	on 3 'echo "$(states)"'
	echo "slow network: the others avoid node 3 after ${answers[1]}, ${answers[2]}, ${answers[4]} ms; its own view: $answer"
	[[ $answer == 0040 ]] || guests_fail "node 3 blames others: $answer"
	on 3 network
	each "$NODES" 'await_up 60'
	on 3 'network tbf rate 1mbit burst 16k latency 500ms'
	each "1 2 4" 'becomes 3 5 1'
	on 3 network
	each "$NODES" 'await_up 60'
	readers_end $NODES
	echo "slow network: read again; longest read $took ms"
}

damage() {
	on 1 reader_begins
	network corrupt 3 20
	on 1 wrong_data
	network corrupt 3 0
	echo "damage without digests: $answer"
	each "$NODES" leave
	each "$NODES" "conf 'data-digest = yes' && join"
	each "$NODES" 'await_up 60'
	readers_begin $NODES
	network corrupt 3 20
	each "1 2 4" 'digest_errors 10'
	# All data of node 3 is damaged: no retry there helps.
	network corrupt 3 1
	each "1 2 4" 'becomes 3 1 2'
	network corrupt 3 0
	each "$NODES" 'await_up 60'
	readers_end $NODES
	each "1 2 4" "dmesg | grep -c 'data digest error'"
	echo "damage with digests: ${answers[1]}, ${answers[2]}, ${answers[4]} found; longest read $took ms"
	each "$NODES" leave
	each "$NODES" 'conf && join'
	each "$NODES" 'await_up 60'
}

# Node 2 serves 12 readers of others, and reads itself through the page cache.
no_memory() {
	local begin
	on 2 'squeeze 16'
	echo "no memory: $answer MB are available on node 2"
	READERS=4 readers_begin $NODES
	begin=$(ms)
	on 2 'for i in 1 2; do ./blockdata read $V -B -b 256 -t 4; done; available'
	each "1 3 4" pass
	readers_end $NODES
	on 2 'dmesg | grep -c "allocation failure" || true'
	echo "no memory: all read for $(($(ms) - begin)) ms; longest read $took ms; $answer allocation failures"
	on 2 loose
	each "$NODES" 'await_up 60'
}

cluster_begins 32M 20
each "$NODES" pass
for part in ${PARTS:-slow_network damage no_memory}; do
	$part
done
cluster_ends
