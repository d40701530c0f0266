# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for many faults among four nodes of a cluster in one kernel: . ./storm.sh (includes
# joining.sh). The kernel needs nvme_core.multipath=N: otherwise the connections of several nodes to
# one peer are paths of one device, and each would hide the faults of the others.
#
# The nodes are 0 to 3; node I has the cache of ${NAMES[I]}. The link "IJ" is the connection of node
# I to node J: it has an address of its own, so that its packets can be dropped.
. ./joining.sh

NAMES=(a b c d)
RUN=$TMPDIR/storm
CONFIG=/sys/kernel/config/nvmet
# A subsystem without a namespace: a port that serves it listens, and refuses all other subsystems.
OTHER_NQN=nqn.2014-08.org.nvmexpress:uuid:22222222-2222-5333-8444-555555555555

# storm_nodes DEVICE: make the nodes; DEVICE is their volume. All join. With keep-alive 4s, the kernel
# notices a silent connection within 4 s: it gets 2 s, sends a sign of life each second, waits 2 s for
# the answer, and its timers are up to a second late. With 3s, it would get 2 s as well, and with less,
# pauses of an emulated processor end connections.
storm_nodes() {
	local i j
	mkdir "$RUN"
	for i in 0 1 2 3; do
		{
			printf '%s\n' 'cluster = test' 'extent = 64K' 'keep-alive = 4s' 'fast-io-fail = 1s'
			for j in 0 1 2 3; do
				echo "node = ${NAMES[j]} $(link_address $i$j):442$j"
			done
		} >"$RUN/conf.$i"
		node_cache "${NAMES[i]}" "$1"
	done
	modprobe -a sch_ingress cls_u32 act_gact nvmet nvmet-tcp nvme-tcp || fail "no filters"
	ip link set lo up
	tc qdisc add dev lo clsact || fail "tc"
	mkdir "$CONFIG/subsystems/$OTHER_NQN"
	at_exit rmdir "$CONFIG/subsystems/$OTHER_NQN"
	cat /dev/kmsg >"$RUN/kmsg" &
	at_exit kill $!
	states_follow &
	at_exit touch "$RUN/end"
	for i in 0 1 2 3 0 1 2; do
		node_joins $i
	done
}

# link_address IJ: print the address at which node I connects to node J. Node J listens on all.
link_address() {
	((${1:0:1} == ${1:1:1})) && echo 0.0.0.0 || echo "127.0.$((${1:0:1} + 1)).$((${1:1:1} + 1))"
}

ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# problem TEXT: record what a fault did wrong; the test goes on.
problem() {
	echo "fault ${fault:-0} (${kind:-none} of ${victim:-none}, seed $SEED, at $(ms)): $*" >>"$RUN/problems"
}

# node_joins I: join, one run at a time.
node_joins() {
	(
		flock 9
		nearcache cluster join "${NAMES[$1]}" --config "$RUN/conf.$1" --self "${NAMES[$1]}" >/dev/null 2>"$RUN/said.$1" ||
			problem "join of node $1: $(<"$RUN/said.$1")"
	) 9>"$RUN/join.$1"
}

# states_follow: keep the states of all peers in a file, "NAME: STATES".
states_follow() {
	local words lines line i
	while [[ ! -e $RUN/end ]]; do
		mapfile -t lines < <(dmsetup status --noflush --target nearcache-peers)
		for line in "${lines[@]}"; do
			read -ra words <<<"$line"
			echo -n "${words[0]} "
			for ((i = 7; i < 7 + 24; i += 6)); do
				echo -n "${words[i]}"
			done
			echo
		done >"$RUN/states.new"
		mv -f "$RUN/states.new" "$RUN/states"
		nap 0.1
	done
}

# link_state IJ: set $state to the state of node J as node I sees it (enum nearcache_peer_state).
link_state() {
	local name states
	state=''
	[[ -e $RUN/states ]] || return 0
	while read -r name states; do
		[[ $name != "${NAMES[${1:0:1}]}:" ]] || state=${states:${1:1:1}:1}
	done <"$RUN/states"
}

# link_becomes up|down SECONDS IJ: wait for this state of the link; false if it does not come. Sets
# $state.
link_becomes() {
	local end=$((SECONDS + $2))
	while link_state "$3" && [[ $1$state != up0 && $1$state != down[123] ]]; do
		((SECONDS < end)) || return 1
		[[ $1$state != up[13] ]] || link_again "$3"
		nap 0.2
	done
}

# link_again IJ: once in three seconds, let node I connect the peer if its connection is gone, as the
# daemon does every five seconds.
link_again() {
	local controller
	controller=$(link_controller "$1")
	[[ ! $controller || $(cat "$controller/state" 2>/dev/null) == live ]] || return 0
	((SECONDS >= ${link_next:-0})) || return 0
	link_next=$((SECONDS + 3))
	node_joins "${1:0:1}"
}

# link_controller IJ: print the folder of the NVMe controller of the link; nothing if there is none.
link_controller() {
	local file address
	address=$(link_address "$1")
	for file in /sys/class/nvme/*/address; do
		[[ $(cat "$file" 2>/dev/null) != *"traddr=$address,"* ]] || echo "${file%/address}"
	done
}

# link_drop IJ, link_pass IJ: drop all packets of the link, in both directions, or pass them again.
link_drop() {
	local side
	for side in dst src; do
		tc filter add dev lo egress protocol ip prio "1$1" u32 match ip $side "$(link_address "$1")/32" \
			action drop || problem "tc"
	done
}

link_pass() {
	tc filter del dev lo egress prio "1$1" || problem "tc"
}

# link_reset IJ: reset the controller; the peer must have a new one.
link_reset() {
	local controller nqn host from
	controller=$(link_controller "$1")
	[[ $controller ]] || { problem "no controller"; return; }
	nqn=$(<"$controller/subsysnqn") host=$(<"$controller/hostnqn")
	from=$(stat -c %s "$RUN/kmsg")
	nvme reset "/dev/${controller##*/}" || problem "the reset fails"
	link_new() {
		tail -c "+$((from + 1))" "$RUN/kmsg" |
			grep -q "nvmet: creating .* controller .* for subsystem $nqn for NQN $host"
	}
	wait_for 5 link_new || problem "the peer has no new controller"
}

# node_port J: set $port to the folder of the port of node J, and $nqn to its subsystem.
node_port() {
	local file link
	for file in "$CONFIG"/ports/*/addr_trsvcid; do
		[[ $(<"$file") != "442$1" ]] || port=${file%/*}
	done
	for link in "$port"/subsystems/*; do
		[[ $link == *"/$OTHER_NQN" ]] || nqn=${link##*/}
	done
}

# node_closes J, node_opens J: nothing listens at the node any more, and all connections to it are
# ended; as before. node_refuses J: it listens, and refuses all hosts.
node_closes() {
	local port nqn
	node_port "$1"
	echo "$port $nqn" >"$RUN/port.$1"
	rm "$port/subsystems/$nqn" || problem "the port keeps the subsystem"
}

node_refuses() {
	local port nqn
	node_port "$1"
	ln -s "$CONFIG/subsystems/$OTHER_NQN" "$port/subsystems/" || problem "a port for two"
	node_closes "$1"
}

node_opens() {
	local port nqn
	read -r port nqn <"$RUN/port.$1"
	wait_for 5 ln -s "$CONFIG/subsystems/$nqn" "$port/subsystems/" || problem "the port cannot be opened"
	rm -f "$port/subsystems/$OTHER_NQN"
}

# For each kind of fault: break_KIND LINK or NODE, and mend_KIND.
break_partition() { link_drop "$1"; }
mend_partition() { link_pass "$1"; }
break_reset() { link_reset "$1"; }
mend_reset() { :; }
break_close() { node_closes "$1"; }
mend_close() { node_opens "$1"; }
break_refuse() { node_refuses "$1"; }
mend_refuse() { node_opens "$1"; }
break_freeze() { dmsetup suspend --noflush --nolockfs "${NAMES[$1]}-home" || problem "suspend"; }
mend_freeze() { dmsetup resume "${NAMES[$1]}-home" || problem "resume"; }

# As 'nearcache cluster leave' does, but for the connections of the node: that command ends all of this
# kernel to its peers.
break_leave() {
	local port nqn
	node_port "$1"
	echo 0 >"$CONFIG/subsystems/$nqn/namespaces/1/enable" || problem "the namespace stays"
	nap 0.5
	rm "$port/subsystems/$nqn" || problem "the port keeps the subsystem"
}

mend_leave() {
	node_joins "$1"
}

# victim_links KIND VICTIM: set @down to the links that notice the fault of this link or node, @held to
# those that have no other fault meanwhile, and @readers to the nodes whose reads it may delay.
victim_links() {
	local i
	down=("$2") held=("$2") readers=("${2:0:1}")
	((${#2} == 1)) || return 0
	down=() held=() readers=()
	for i in 0 1 2 3; do
		[[ $i == "$2" && $1 != freeze ]] || readers+=("$i")
		((i != $2)) || continue
		down+=("$i$2")
		held+=("$i$2" "$2$i")
	done
}

# fault_runs FAULT KIND VICTIM HOLD: VICTIM has the fault for HOLD tenths of a second longer than its
# links take to notice it.
fault_runs() {
	local fault=$1 kind=$2 victim=$3 begin mended link state
	begin=$(ms)
	break_"$kind" "$victim"
	[[ $kind == reset ]] || for link in "${down[@]}"; do
		link_becomes down 10 "$link" || problem "link $link has not noticed it: it does not count"
	done
	nap "$(($4 / 10)).$(($4 % 10))"
	mend_"$kind" "$victim"
	mended=$(ms)
	for link in "${held[@]}"; do
		link_becomes up "$BACK" "$link" || problem "link $link is not up after $BACK s: state $state"
	done
	begin="$begin $mended $(ms)"
	((${begin##* } - mended <= BACK * 1000)) || problem "taken back after $((${begin##* } - mended)) ms"
	echo "$fault $kind $victim $begin" >>"$RUN/faults"
	echo "fault $fault, $kind of $victim: lasted $((mended - ${begin%% *})) ms, taken back in $((${begin##* } - mended)) ms"
	touch "$RUN/done.$fault"
}

# victim_free: true if the links have no fault, and the reads of no node that it may delay have met
# another one in the last seven seconds: each read meets one fault at most.
declare -A holder noticed
victim_free() {
	local each
	for each in "${held[@]}"; do
		[[ ! ${holder[$each]:-} || -e $RUN/done.${holder[$each]} ]] || return
	done
	for each in "${readers[@]}"; do
		((SECONDS - ${noticed[$each]:--9} > 7)) || return
	done
}

# fault_chosen: set $kind, $victim and $hold of the next random fault.
fault_chosen() {
	local kinds=(close refuse freeze leave {partition,reset}{,,,,,})
	kind=${kinds[RANDOM % ${#kinds[@]}]} victim=$((RANDOM % 4)) hold=$((RANDOM % 30))
	case $kind in
	partition | reset) victim=$(((victim + 1 + RANDOM % 3) % 4))$victim ;;
	# Reads wait for the answers of a node that is frozen.
	freeze) hold=$((hold / 3)) ;;
	esac
}

# fault_begins: let the fault happen that is in $fault, $kind, $victim and $hold.
fault_begins() {
	local each state
	for each in "${down[@]}"; do
		link_becomes up "$BACK" "$each" || problem "link $each is not up before: state $state"
	done
	for each in "${held[@]}"; do
		holder[$each]=$fault
	done
	for each in "${readers[@]}"; do
		noticed[$each]=$SECONDS
	done
	fault_runs "$fault" "$kind" "$victim" "$hold" &
}

# storm COUNT: let COUNT random faults happen. The next four wait; the first of them that can begins.
storm() {
	local fault=0 kind victim hold down held readers waiting=() i each
	RANDOM=$SEED STARTED=$(ms)
	while ((fault < $1)) || ((${#waiting[@]})); do
		while ((fault < $1 && ${#waiting[@]} < 4)); do
			fault=$((fault + 1))
			fault_chosen
			waiting+=("$fault $kind $victim $hold")
		done
		for i in "${!waiting[@]}"; do
			read -r each kind victim hold <<<"${waiting[i]}"
			victim_links "$kind" "$victim"
			! victim_free || { fault=$each fault_begins; unset "waiting[$i]"; break; }
		done
		waiting=("${waiting[@]}")
		[[ ! -e $RUN/wrong ]] || fail "wrong data, or an error: $(grep -hv '^slow' "$RUN"/reader.*)"
		nap 0.1
	done
	for each in "${!holder[@]}"; do
		wait_for 120 test -e "$RUN/done.${holder[$each]}" || problem "fault ${holder[$each]} does not end"
	done
}

# storm_judge: print the figures of each kind, and the reads that took too long. A read may take both
# timers and a second; at a frozen peer, which answers keep-alives, and at the cache of a node that is
# itself frozen, a second longer than the fault.
storm_judge() {
	local i
	for i in 0 1 2 3; do
		sed -n "s/^slow/slow $i/p" "$RUN/reader.$i"
	done | sort -n -k 5 | awk -v limit="$LIMIT" -v start="$STARTED" '
		NR == FNR {
			# Times since the begin: this awk prints no large integers.
			kind[$1] = $2; victim[$1] = $3; begin[$1] = $4 - start; end[$1] = $5 - start; count[$2]++
			if ($6 - $5 > back[$2]) back[$2] = $6 - $5
			if ($5 - $4 > time[$2]) time[$2] = $5 - $4
			all++
			next
		}
		{
			node = $2; ended = $5 - start; at = ended - $6; most = limit; cause = 0
			for (f in kind) {
				if (begin[f] > ended || end[f] + limit < at) continue
				if (length(victim[f]) == 2 && substr(victim[f], 1, 1) != node) continue
				if (length(victim[f]) == 1 && victim[f] == node && kind[f] != "freeze") continue
				if (kind[f] == "freeze" && end[f] - begin[f] + 1000 > most) most = end[f] - begin[f] + 1000
				if (!cause || begin[f] > begin[cause]) cause = f
			}
			k = cause ? kind[cause] : "none"
			if ($6 > longest[k]) longest[k] = $6
			if ($6 > most)
				printf "PROBLEM a read of node %s took %d ms of at most %d: fault %d (%s of %s, from %d to %d), read from %d at %d + %d\n",
					node, $6, most, cause, k, victim[cause], begin[cause], end[cause], at, $3, $4
		}
		END {
			count["none"] += 0
			for (k in count)
				printf "%s: %d faults of at most %d ms, longest read %d ms, taken back after at most %d ms\n",
					k, count[k], time[k], longest[k], back[k]
			printf "%d faults\n", all
		}' "$RUN/faults" -
}

# reader_begins I: verify all data of the cluster device of node I, until reader_ends I.
reader_begins() {
	rm -f "$RUN/stop.$1"
	{
		./blockdata read "/dev/mapper/${NAMES[$1]}" -f "$RUN/stop.$1" -t 2 -b 8:64 -a 8 -r 20 -i 40 -l 1500 \
			-S "$SEED" >>"$RUN/reader.$1" 2>&1 || touch "$RUN/wrong"
		touch "$RUN/ended.$1"
	} &
}

reader_ends() {
	rm -f "$RUN/ended.$1"
	touch "$RUN/stop.$1"
	reader_ended() {
		[[ -e $RUN/ended.$1 ]]
	}
	wait_for 60 reader_ended "$1" || problem "the readers of node $1 hang"
}
