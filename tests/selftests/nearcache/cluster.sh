# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for cluster devices in one guest: . ./cluster.sh (includes cache.sh). The volume is $O;
# the cache of the local node and of each peer is a linear dm device on it, so that a test can break it.
. ./cache.sh

EXTENT=64
PEERS=(one two three)

# cluster_line [NODES [OPTIONS]]: print the table line of cluster "cl"; here is node "me".
cluster_line() {
	local name nodes=${1:-} count
	if [[ ! $nodes ]]; then
		nodes="me 10 -"
		for name in "${PEERS[@]}"; do
			nodes+=" $name 10 /dev/mapper/$name"
		done
	fi
	count=$(wc -w <<<"$nodes")
	echo "0 $(sectors "$O") nearcache-peers /dev/mapper/home ${ORIGIN:-$O} $EXTENT ${REPLICAS:-1} me $((count / 3)) $nodes ${2:-}"
}

# linear: print the table of a device that serves the volume.
linear() {
	echo "0 $(sectors "$O") linear $O 0"
}

# delayed MS: as linear, but each read takes MS longer.
delayed() {
	echo "0 $(sectors "$O") delay $O 0 $1 $O 0 0"
}

# fresh_cluster MB [OPTIONS]: create the volume, the caches and the cluster device. With
# ORIGIN=/dev/mapper/far, the cluster device has this way to the volume.
fresh_cluster() {
	local name
	make_null O origin "$1"
	./blockdata write "$O"
	for name in home ${ORIGIN:+far} "${PEERS[@]}"; do
		make_dm REPLY "$name" "$(linear)"
	done
	make_dm CL cl "$(cluster_line "" "${2:-}")"
	for name in "${!PEERS[@]}"; do
		await_state $((name + 1)) $UP
	done
}

# node FIELD INDEX: print a field of a node's status: state begun ended bytes errors latency.
node() {
	local words fields=(state begun ended bytes errors latency) i
	read -ra words < <(dmsetup status cl)
	[[ ${words[2]} == nearcache-peers && ${words[3]} == 1 && ${words[5]} == 6 ]] || fail "status: ${words[*]}"
	for i in "${!fields[@]}"; do
		[[ ${fields[i]} != "$1" ]] || echo "${words[6 + 6 * $2 + i]}"
	done
}

# origin_latency: print the latency of the origin, ns.
origin_latency() {
	dmsetup status cl | awk '{ print $(NF - 1) }'
}

# States of nodes: enum nearcache_peer_state.
UP=0 FAILED=1 ABSENT=3 HERE=4 SLOW=5

state_is() {
	[[ $(node state "$1") == "$2" ]]
}

# await_state INDEX STATE: wait until a node has this state.
await_state() {
	wait_for 40 state_is "$1" "$2" || fail "node $1 is not $2: $(dmsetup status cl)"
}

# right [options of blockdata read]: read the cluster device; fail unless the data is right.
right() {
	./blockdata read /dev/mapper/cl "$@" || fail "wrong data (line ${BASH_LINENO[0]})"
}

# broken NAME...: the caches of these nodes return errors.
broken() {
	local name
	for name; do
		becomes "$name" "0 $(sectors "$O") error"
	done
}

mended() {
	local name
	for name; do
		becomes "$name" "$(linear)"
	done
}
