# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for several nodes of a cluster in one kernel: . ./joining.sh (includes cache.sh and
# command.sh). Node X has the cache X-home and the cluster device X, and exports at 127.0.0.1.
. ./cache.sh
. ./command.sh

# conf NODE:PORT...: write the configuration.
conf() {
	local node
	printf '%s\n' 'cluster = test' 'extent = 64K' ${CONF:+"$CONF"} >"$TMPDIR/conf"
	for node; do
		echo "node = ${node%%:*} 127.0.0.1:${node#*:}" >>"$TMPDIR/conf"
	done
}

# node_cache NODE [ORIGIN]: make the cache of a node.
node_cache() {
	local device
	make_null device "cache$1" 24
	at_exit dm_gone "$1-home"
	at_exit left "$1"
	good create "$1-home" --origin "${2:-$O}" --cache "$device" --block-size 64K --read-only
}

left() {
	! dmsetup info "$1" >/dev/null 2>&1 || nearcache cluster leave "$1" >/dev/null
}

# joins NODE [WORDS]: join; the command must succeed. Absent nodes are warned of in $err.
joins() {
	run cluster join "$1" --config "$TMPDIR/conf" --self "$1" "${@:2}"
	[[ $rc == 0 ]] || fail "join $1: $err $out"
}

# state NODE PEER: print the state of a peer in the status of a node.
state() {
	nearcache cluster status "$1" | awk -v peer="$2" '$1 == "NODE" && $2 == "ADDRESS" { on = 1; next }
		!NF { on = 0 } on && $1 == peer { print $3 }'
}

state_becomes() {
	[[ $(state "$1" "$2") == "$3" ]]
}

# await NODE PEER STATE: wait until the status shows the peer in this state.
await() {
	wait_for 40 state_becomes "$@" || fail "$2 is not $3: $(nearcache cluster status "$1" 2>&1)"
}

# problem NODE TEXT: the status has this text.
problem() {
	run cluster status "$1"
	[[ $out == *"$2"* ]] || fail "no '$2' in: $out"
}

# right NODE: the cluster device has the right data.
right() {
	./blockdata read "/dev/mapper/$1" || fail "wrong data of $1 (line ${BASH_LINENO[0]})"
}

# reader_begins NODE: read random places of the cluster device with four threads, until reader_ends.
reader_begins() {
	reader_stop=$TMPDIR/stop
	at_exit touch "$reader_stop"
	./blockdata read "/dev/mapper/$1" -f "$reader_stop" -t 4 -b 8:128 -a 8 -r 50 >"$TMPDIR/log" &
	reader=$!
}

# reader_ends: fail unless all its data was right.
reader_ends() {
	touch "$reader_stop"
	wait "$reader" || fail "reader: $(tail -n 3 "$TMPDIR/log")"
}

# alone: nothing of any cluster is left.
alone() {
	local left
	left=$(ls /sys/kernel/config/nvmet/{subsystems,ports,hosts} /run/nearcache/cluster 2>/dev/null | grep -v ':$' | grep .)
	[[ ! $left ]] || fail "left: $left"
	! grep -l 'tcp' /sys/class/nvme/*/transport 2>/dev/null || fail "a connection is left"
}
