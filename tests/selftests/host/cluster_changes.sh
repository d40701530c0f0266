#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Four guests are nodes of a cluster. Readers check each byte while one node after the other loads the
# module again, and while the nodes have different files: they get right data, and only the volume is
# read more often. A node that comes back with another version of the volume, or with another volume
# of the same size, is refused by all others, and so is a node without the secret, with another
# secret, or without a line in the file. A node cannot write to another one.
# kernels: 6.12
# when: soak
# timeout: 900
# shellcheck disable=SC2086,SC2016 # lists of nodes are several words; steps are for the guest
set -euo pipefail
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"
SIZE=$((32 << 20)) LIMIT=9000
# Id of a host that is no node.
FOREIGN=8f6a0d1e-5a47-4f6b-9d1c-3c1f0f1f7a12

# epoch WHAT MAX: all nodes read everything; the volume may serve MAX per mille of its size.
epoch() {
	volume_served
	each "$NODES" pass
	volume_served
	echo "$1: the volume served $((1000 * bytes / SIZE)) per mille of its size"
	((1000 * bytes <= $2 * SIZE)) || guests_fail "$1: that is more than $2"
}

upgrade() {
	local v rest
	for v in $NODES; do
		rest=$(others $v)
		readers_begin $rest
		on $v upgraded
		each "$rest" "lost $v"
		on $v join
		each "$NODES" 'await_up 60'
		readers_end $rest
		echo "upgrade of node $v: longest read $took ms"
	done
	epoch "after the upgrades" 20
}

# Node 2 has the nodes in another order, and other weights; 3 lacks node 4; 4 has other extents.
different_files() {
	readers_begin 1 2 3
	on 2 'NODES="4 3 2 1" conf && sed -i "/ n1 /s/$/ 3/" /etc/nearcache/cluster.conf && join'
	on 3 'NODES="1 2 3" conf && join'
	on 4 'leave && EXTENT=4M conf && join'
	on 4 reader_begins
	on 4 'becomes 3 3'
	epoch "different files, first" 4000
	epoch "different files, then" 1000
	readers_end $NODES
	echo "different files: longest read $took ms"
	each "1 2 3" 'conf && join'
	on 4 'leave && conf && join'
	each "$NODES" join
	each "$NODES" 'await_up 60'
	each "$NODES" pass
	epoch "equal files again" 20
}

# other_volume WHAT ORIGIN [OPTIONS]: node 4 comes back with another volume.
other_volume() {
	local served
	readers_begin 1 2 3
	on 4 "leave && empty $2 ${*:3} && join"
	on 4 served_to_peers
	served=$answer
	each "1 2 3" 'refuses 4 "another volume, or another version of it"'
	on 4 'for n in 1 2 3; do refuses $n "another volume, or another version of it"; done'
	each "1 2 3" pass
	on 4 served_to_peers
	((answer == served)) || guests_fail "$1: node 4 served $((answer - served)) bytes"
	readers_end 1 2 3
	echo "$1: refused, and not read; longest read $took ms"
}

comes_back() {
	local served
	on 4 'leave && empty && join'
	each "$NODES" 'await_up 60'
	on 4 served_to_peers
	served=$answer
	each "1 2 3" pass
	on 4 served_to_peers
	((answer - served >= SIZE / 4)) || guests_fail "node 4 served only $((answer - served)) bytes"
}

# A host that knows the names of a node, and not its secret, is refused, and so is one that is not in
# the file.
secrets() {
	local good wrong names n
	# A kernel whose secret is refused may wait for an answer until this timeout.
	each "$NODES" 'echo 3 >/sys/module/nvme_core/parameters/admin_timeout'
	on 1 'for i in 1 2; do nvme gen-dhchap-key -m 0 -n x | tail -n 1; done'
	read -r good wrong <<<"${answer/$'\n'/ }"
	[[ $good == DHHC-1:*: && $wrong == DHHC-1:*: ]] || guests_fail "no secrets: $answer"
	each "$NODES" leave
	each "$NODES" "secret $good && conf 'secret-file = /etc/nearcache/secret' && join"
	each "$NODES" 'await_up 60'
	each "$NODES" pass
	each "$NODES" 'for n in $NODES; do ((n == VM_NODE)) || cannot_write $n; done'
	echo "secrets: right data; no node can write"
	on 4 'identity 1'
	names=$answer
	on 4 leave
	on 4 "stranger 1 $names"
	on 4 "stranger 1 $names --dhchap-secret=$wrong"
	on 4 "stranger_taken 1 $names --dhchap-secret=$good"
	on 4 "stranger 1 ${names%% *} nqn.2014-08.org.nvmexpress:uuid:$FOREIGN $FOREIGN --dhchap-secret=$good"
	readers_begin 1 2 3
	on 4 "secret $wrong && join"
	on 4 'for n in 1 2 3; do refuses $n "no secret or another one"; done'
	each "1 2 3" 'refuses 4 "no secret or another one"'
	on 4 'leave && conf && join'
	on 4 'for n in 1 2 3; do refuses $n "no secret or another one"; done'
	each "1 2 3" 'refuses 4 "does not ask for the secret"'
	on 4 "leave && secret $good && conf 'secret-file = /etc/nearcache/secret' && join"
	each "$NODES" 'await_up 60'
	echo "secrets: a node with another one or none is refused, and taken with the right one"
	# Connections of a node end when the others do not have it in their files any more.
	on 4 reader_begins
	each "1 2 3" 'NODES="1 2 3" conf "secret-file = /etc/nearcache/secret" && join'
	on 4 'for n in 1 2 3; do refuses $n "its file lacks this node"; done; pass'
	readers_end $NODES
	echo "a node that is in no file any more: refused; longest read $took ms"
}

cluster_begins 32M 20
each "$NODES" pass
for part in ${PARTS:-upgrade different_files versions secrets}; do
	if [[ $part == versions ]]; then
		other_volume "another version" '"$(remote_dev)"' --dataset-version 2
		on 4 'null_dev other 32 >/run/other && ./blockdata write "$(</run/other)" -g 7'
		other_volume "another volume" '"$(</run/other)"'
		comes_back
	else
		$part
	fi
done
cluster_ends
