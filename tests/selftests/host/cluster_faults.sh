#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Four guests are nodes of a cluster, and read all the time. One or two nodes at the same time lose
# their power, stop and go on, lose the link to one other node or to all, have a connection reset, or
# leave and join; or all lose their power at once. The readers of the other nodes get right data and
# no error, wait no longer than the timers of the connection say, and use the nodes again soon after
# they are back.
#
# CLUSTER_FAULTS is the number of faults (24, in 'make soak' 200), CLUSTER_SEED chooses them.
# kernels: 6.12
# when: soak
# timeout: 900
# shellcheck disable=SC2086,SC2016 # lists of nodes are several words; steps are for the guest
set -euo pipefail
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"
faults=${CLUSTER_FAULTS:-$((${SOAK:-0} ? 200 : 24))} seed=${CLUSTER_SEED:-$RANDOM}
# Shorter timers than by default: most of the time of a fault is spent on them.
TIMERS="'keep-alive = 4s' 'fast-io-fail = 1s'"
# Both timers, and a second, in ms.
LIMIT=6000
back_limit=30000
GUESTS_TIMEOUT=$((300 + faults * 60))

# nap: a random time, up to two seconds: the length of a fault that is too short for the timers.
nap() {
	sleep "$((RANDOM % 2)).$((RANDOM % 10))"
}

# cut_off cut|heal N: no frame passes between node N and the other nodes; the volume answers.
cut_off() {
	local n
	for n in $(others $2); do
		network $1 $2 $n
	done
}

# For each kind of fault, break_KIND N breaks node N, and mend_KIND N lets it work again, or adds it to
# $dead if it must boot, and to $left if it must join. The kinds in $silenced end the readers of the
# node, those in $frozen stop them.
silenced=' power leave reboot ' frozen=' stop_long stop_short '

break_power() {
	guest_kill $1
}

mend_power() {
	dead+="$1 " left+="$1 "
}

break_reboot() {
	on $1 'leave && nearcache close v-home'
	guest_end $1
}

mend_reboot() {
	mend_power $1
}

break_leave() {
	on $1 leave
}

mend_leave() {
	left+="$1 "
}

break_stop_long() {
	guest_stop $1
}

mend_stop_long() {
	guest_continue $1
}

break_stop_short() {
	guest_stop $1
}

mend_stop_short() {
	guest_continue $1
}

break_cut_long() {
	cut_off cut $1
}

mend_cut_long() {
	cut_off heal $1
}

break_cut_short() {
	cut_off cut $1
}

mend_cut_short() {
	cut_off heal $1
}

# The link to the first node without a fault.
break_cut_one() {
	network cut $1 ${well%% *}
}

mend_cut_one() {
	network heal $1 ${well%% *}
}

break_reset() {
	on ${well%% *} "nvme reset /dev/\$(controller $1)"
}

mend_reset() {
	:
}

# await_fault KIND N: wait until the other nodes have noticed, or for a short time.
await_fault() {
	case $1 in
	power | reboot | leave) each "$well" "lost $2" ;;
	stop_long | cut_long) each "$well" "lost $2; disconnected $2" ;;
	cut_one) on ${well%% *} "lost $2" ;;
	stop_short | cut_short) nap ;;
	esac
}

# taken_back: wait until each node reads at all others, and check the time since $since.
taken_back() {
	local back
	each "$NODES" 'await_up 120'
	back=$(($(ms) - since))
	((back <= back_limit)) || problems+="fault $fault: $what: taken back after $back ms; "
	((back <= longest_back)) || longest_back=$back
	result+=", taken back in $back ms"
}

# readers_judge EXTRA N...: end the readers of these nodes. Their longest read may take EXTRA ms more
# than the timers.
readers_judge() {
	local extra=$1 n read
	shift
	each "$*" reader_ends
	for n; do
		read -r read _ <<<"${answers[n]}"
		((read <= LIMIT + extra)) || problems+="fault $fault: $what: a read of node $n took $read ms; "
		((extra || read <= longest)) || longest=$read
		result+=", $n: $read"
	done
}

# fault_of KIND N [KIND N]: these nodes have these faults, all at once.
fault_of() {
	local kinds=("$1" "${@:3:1}") victims=("$2" "${@:4:1}") i begin
	well=$(others "${victims[@]}")
	for i in "${!victims[@]}"; do
		[[ $silenced != *" ${kinds[i]} "* || ${kinds[i]} == power ]] || readers_judge 0 "${victims[i]}"
	done
	begin=$(ms)
	for i in "${!victims[@]}"; do
		break_${kinds[i]} "${victims[i]}"
	done
	for i in "${!victims[@]}"; do
		await_fault "${kinds[i]}" "${victims[i]}"
	done
	dead='' left=''
	for i in "${!victims[@]}"; do
		mend_${kinds[i]} "${victims[i]}"
	done
	boots $dead
	each "$dead" "again $TIMERS"
	since=$(ms)
	each "$left" join
	taken_back
	readers_judge 0 $well
	for i in "${!victims[@]}"; do
		if [[ $frozen == *" ${kinds[i]} "* ]]; then
			readers_judge $((since - begin)) "${victims[i]}"
		elif [[ $silenced != *" ${kinds[i]} "* ]]; then
			readers_judge 0 "${victims[i]}"
		fi
	done
}

power_of_all() {
	local n
	for n in $NODES; do
		guest_kill "$n"
	done
	boots $NODES
	each "$NODES" "again $TIMERS"
	since=$(ms)
	each "$NODES" join
	taken_back
}

cluster_begins 32M 100 "$TIMERS"
# First each kind, then kinds of this list: faults that need no boot are faster, and more frequent.
once=(power stop_long cut_long reset stop_short cut_short leave cut_one reboot)
often=("${once[@]}" reset reset stop_long stop_short stop_short cut_long cut_short cut_short cut_one leave)
problems='' longest=0 longest_back=0 phases=0
RANDOM=$seed
for ((fault = 1; fault <= faults; fault += count)); do
	phases=$((phases + 1)) result='' count=1 began=$SECONDS
	each "$NODES" "reader_begins 1"
	if ((phases == ${#once[@]} + 1 || (phases > ${#once[@]} && RANDOM % 40 == 0))); then
		what='power of all' && power_of_all
	else
		v=$((RANDOM % 4 + 1)) w=$((RANDOM % 3 + 1))
		((w < v)) || w=$((w + 1))
		if ((phases <= ${#once[@]})); then
			set -- ${once[phases - 1]} $v
		else
			set -- ${often[RANDOM % ${#often[@]}]} $v
			set -- "$@" ${often[RANDOM % ${#often[@]}]} $w
			((RANDOM % 4)) || set -- $1 $2
		fi
		what=$* count=$(($# / 2))
		fault_of "$@"
	fi
	echo "fault $fault: $what: longest reads (ms)$result; $((SECONDS - began)) s"
done
faults=$((fault - 1))
each "$NODES" "reader_begins 1"
each "$NODES" reader_ends
cluster_ends
echo "{\"faults_injected\": $faults}" >"$CHECK_OUT/$KERNEL/cluster_faults.json"
echo "$faults faults (seed $seed) in $SECONDS s: longest read $longest ms, taken back after at most $longest_back ms"
[[ ! $problems ]] || guests_fail "$problems"
