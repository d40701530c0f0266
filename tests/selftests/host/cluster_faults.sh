#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Four guests are nodes of a cluster, and read all the time. Nodes lose their power, stop and go on,
# lose the link to one other node or to all, reset a connection, leave and join, or all lose their
# power at once. The readers of the other nodes get right data and no error, wait no longer than the
# timers of the connection say, and use the node again soon after it is back.
#
# CLUSTER_FAULTS is the number of faults (12, in 'make soak' 100), CLUSTER_SEED chooses them.
# kernels: 6.12
# when: soak
# timeout: 900
# shellcheck disable=SC2086,SC2016 # lists of nodes are several words; steps are for the guest
set -euo pipefail
# shellcheck source=tests/vm/guests.sh
. "$TOP/tests/vm/guests.sh"
NODES='1 2 3 4' STORAGE=100
faults=${CLUSTER_FAULTS:-$((${SOAK:-0} ? 100 : 12))} seed=${CLUSTER_SEED:-$RANDOM}
# keep-alive and fast-io-fail of cluster.conf(5), and a second, in ms.
limit=8000
back_limit=30000
GUESTS_TIMEOUT=$((300 + faults * 60))

payload=$HOST_DIR/payload
mkdir "$payload"
cp "$BUILD/selftests/nearcache/"{common.sh,guest_node.sh,blockdata} "$payload"
command='cd /selftests && export TMPDIR=/tmp && . ./guest_node.sh && steps'

# boots N...: boot these nodes; their drives keep their content.
boots() {
	local n
	for n; do
		guest_boot "$n" "$command" --payload "$payload:/selftests" --local-size 24M --remote-size 1M
	done
	for n; do
		guest_ready "$n"
	done
}

# others N: print all nodes but N.
others() {
	local n
	for n in $NODES; do
		((n == $1)) || echo -n "$n "
	done
}

ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# nap: a random time, up to three seconds: the length of a fault that is too short for the timers.
nap() {
	sleep "$((RANDOM % 3)).$((RANDOM % 10))"
}

# taken_back: wait until each node reads at all others, and check the time since $since.
taken_back() {
	local n took
	each "$NODES" 'await_up 120'
	took=$(($(ms) - since))
	((took <= back_limit)) || problems+="fault $fault: $what: taken back after $took ms; "
	((took <= longest_back)) || longest_back=$took
	result+=", taken back in $took ms"
}

# readers_end EXTRA N...: end the readers of these nodes. Their longest read may take EXTRA ms more
# than the timers.
readers_end() {
	local extra=$1 n
	shift
	each "$*" reader_ends
	for n; do
		read -r took _ <<<"${answers[n]}"
		((took <= limit + extra)) || problems+="fault $fault: $what: a read of node $n took $took ms; "
		((extra || took <= longest)) || longest=$took
		result+=", $n: $took"
	done
}

# The faults of node $v. Each one sets $since: from then on the node works.

fault_power() {
	guest_kill $v
	each "$rest" "lost $v"
	boots $v
	on $v again
	since=$(ms)
	on $v join
	taken_back
	readers_end 0 $rest
}

fault_power_of_all() {
	local n
	for n in $NODES; do
		guest_kill "$n"
	done
	boots $NODES
	each "$NODES" again
	since=$(ms)
	each "$NODES" join
	taken_back
}

fault_stop_long() {
	local begin
	begin=$(ms)
	guest_stop $v
	each "$rest" "lost $v; disconnected $v"
	guest_continue $v
	since=$(ms)
	taken_back
	readers_end 0 $rest
	readers_end $((since - begin)) $v
}

fault_stop_short() {
	local begin
	begin=$(ms)
	guest_stop $v
	nap
	guest_continue $v
	since=$(ms)
	taken_back
	readers_end 0 $rest
	readers_end $((since - begin)) $v
}

# cut_off: no frame passes between node $v and the other nodes; the volume answers.
cut_off() {
	local n
	for n in $rest; do
		network "$1" $v "$n"
	done
}

fault_cut_long() {
	cut_off cut
	each "$rest" "lost $v; disconnected $v"
	cut_off heal
	since=$(ms)
	taken_back
	readers_end 0 $NODES
}

fault_cut_short() {
	cut_off cut
	nap
	cut_off heal
	since=$(ms)
	taken_back
	readers_end 0 $NODES
}

fault_cut_one() {
	network cut $v "$w"
	each "$w" "lost $v"
	network heal $v "$w"
	since=$(ms)
	taken_back
	readers_end 0 $NODES
}

fault_reset() {
	on "$w" "nvme reset /dev/\$(controller $v)"
	since=$(ms)
	taken_back
	readers_end 0 $NODES
}

fault_leave() {
	readers_end 0 $v
	on $v leave
	each "$rest" "lost $v"
	since=$(ms)
	on $v join
	taken_back
	readers_end 0 $rest
}

fault_reboot() {
	readers_end 0 $v
	on $v 'leave && nearcache close v-home'
	guest_end $v
	boots $v
	on $v again
	since=$(ms)
	on $v join
	taken_back
	readers_end 0 $rest
}

guests_begin
guest_boot $STORAGE "$command" --payload "$payload:/selftests" --remote-size 32M --local-size 1M
boots $NODES
guest_ready $STORAGE
on $STORAGE './blockdata write "$(remote_backing)" && serve && distant 100'
each "$NODES" begins
each "$NODES" join
each "$NODES" await_up
kinds=(power stop_long cut_long reset stop_short cut_short leave cut_one reboot power_of_all)
problems='' longest=0 longest_back=0
RANDOM=$seed
for ((fault = 1; fault <= faults; fault++)); do
	# First each kind once, then any.
	kind=${kinds[fault <= ${#kinds[@]} ? fault - 1 : RANDOM % ${#kinds[@]}]}
	v=$((RANDOM % 4 + 1)) w=$((RANDOM % 3 + 1))
	((w < v)) || w=$((w + 1))
	rest=$(others $v)
	what="$kind of node $v" result=''
	each "$NODES" "reader_begins 1"
	fault_$kind
	echo "fault $fault: $what: longest reads (ms)${result}"
done
each "$NODES" "reader_begins 1"
each "$NODES" reader_ends
each "$NODES" 'leave && nearcache close v-home >/dev/null && remote_disconnect'
guests_end
echo "{\"faults_injected\": $faults}" >"$CHECK_OUT/$KERNEL/cluster_faults.json"
echo "$faults faults (seed $seed): longest read $longest ms, longest time until a node was read again $longest_back ms"
[[ ! $problems ]] || guests_fail "$problems"
