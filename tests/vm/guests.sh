# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests with several guests on one network: . "$TOP/tests/vm/guests.sh". Needs KERNEL,
# BUILD, TOP and HOST_DIR, as host tests have them.
#
# Guest N has the address 10.88.0.N. Its command ends with 'steps' (lib.sh): then it runs the lines
# that this shell sends, one after the other. A guest that is killed leaves its drives, and can be
# booted again with them. guests_end fails unless each guest ended well and its log is clean.
GUESTS_LOGS=${CHECK_OUT:-$BUILD/check}/$KERNEL/$(basename "$0" .sh)
declare -A guest_run guest_in guest_out guest_part guest_boots

guests_fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# guests_begin: start the network.
guests_begin() {
	local switch=$BUILD/vm/switch fd
	mkdir -p "$BUILD/vm" "$GUESTS_LOGS"
	if [[ ! $switch -nt $TOP/tests/vm/switch.c ]]; then
		cc -O2 -o "$switch.$$" "$TOP/tests/vm/switch.c" || guests_fail "switch.c does not compile"
		mv "$switch.$$" "$switch"
	fi
	trap guests_cleanup EXIT
	trap 'exit 143' TERM INT
	mkfifo "$HOST_DIR/switch.in" "$HOST_DIR/switch.out"
	exec {switch_in}<>"$HOST_DIR/switch.in" {switch_out}<>"$HOST_DIR/switch.out"
	"$switch" "$HOST_DIR/network" <"$HOST_DIR/switch.in" >"$HOST_DIR/switch.out" &
	switch_pid=$!
	# Its answer shows that it listens.
	network heal 1 2
}

# network COMMAND...: give the switch a command (switch.c).
network() {
	local answer
	echo "$*" >&"$switch_in"
	read -r -t 20 -u "$switch_out" answer || guests_fail "the switch does not answer '$*'"
	[[ $answer == ok ]] || guests_fail "the switch answers '$answer'"
}

guests_cleanup() {
	local rc=$? n
	trap - EXIT
	for n in "${!guest_run[@]}"; do
		# A stopped emulator does not end by itself.
		kill -KILL "$(guest_emulator "$n")" 2>/dev/null || true
		kill -TERM "${guest_run[$n]}" 2>/dev/null || true
	done
	kill -TERM "$switch_pid" 2>/dev/null || true
	wait
	((!rc)) || for n in "${!guest_boots[@]}"; do
		echo "guest $n: the end of its output:"
		tail -n 20 "$GUESTS_LOGS/$n.${guest_boots[$n]}.out"
	done >&2
	exit $rc
}

# guest_emulator N: print the process of its emulator.
guest_emulator() {
	cat "$HOST_DIR/$1/pid" 2>/dev/null
}

# guest_boot N COMMAND [options of run]: start guest N; COMMAND is for bash. guest_ready N: wait
# until it takes steps.
guest_boot() {
	local n=$1 command=$2 dir=$HOST_DIR/$1 fd boot=$((${guest_boots[$1]:-0} + 1))
	shift 2
	mkdir -p "$dir"
	rm -f "$dir"/steps.* "$dir/pid"
	mkfifo "$dir/steps.in" "$dir/steps.out"
	[[ ! ${guest_in[$n]:-} ]] || { fd=${guest_in[$n]}; exec {fd}>&-; fd=${guest_out[$n]}; exec {fd}>&-; }
	exec {fd}<>"$dir/steps.in"
	guest_in[$n]=$fd
	exec {fd}<>"$dir/steps.out"
	guest_out[$n]=$fd
	guest_part[$n]=''
	guest_boots[$n]=$boot
	"$TOP/tests/vm/run" --kernel "$KERNEL" --network "$HOST_DIR/network:$n" --memory 448M --cpus 1 \
		--disk-dir "$dir" --timeout "${GUESTS_TIMEOUT:-600}" --log "$GUESTS_LOGS/$n.$boot.log" \
		--qemu "-chardev pipe,id=steps,path=$dir/steps -device virtserialport,chardev=steps,name=steps" \
		--qemu "-pidfile $dir/pid" "$@" -- bash -c "$command" \
		{switch_in}>&- {switch_out}>&- >"$GUESTS_LOGS/$n.$boot.out" 2>&1 &
	guest_run[$n]=$!
}

guest_ready() {
	local line
	guest_line "$1"
	[[ $line == ready ]] || guests_fail "guest $1 says '$line'"
}

# guest_line N: read a line from the guest into the caller's variable 'line'.
guest_line() {
	local n=$1 rc end=$((SECONDS + ${GUEST_LIMIT:-240}))
	while :; do
		rc=0
		IFS= read -r -t 1 -u "${guest_out[$n]}" line || rc=$?
		line=${guest_part[$n]}$line guest_part[$n]=''
		((rc)) || return 0
		guest_part[$n]=$line
		kill -0 "${guest_run[$n]}" 2>/dev/null || guests_fail "guest $n has ended"
		((SECONDS < end)) || guests_fail "guest $n does not answer"
	done
}

# guest_send N LINE: send a step. guest_await N: wait for its end; its output is in $answer.
guest_send() {
	echo "$2" >&"${guest_in[$1]}"
}

guest_await() {
	local line
	answer=''
	while guest_line "$1" && [[ $line != done* ]]; do
		answer+=${answer:+$'\n'}${line#- }
	done
	return "${line#done }"
}

# on N LINE: run a step in guest N; it must succeed. Sets $answer.
on() {
	guest_send "$1" "$2"
	guest_await "$1" || guests_fail "guest $1: '$2': exit $?: $answer"
}

# each 'N...' LINE: run a step in these guests at the same time; it must succeed in each. The
# answers are in ${answers[N]}.
each() {
	local n
	# shellcheck disable=SC2034 # for the test
	answers=()
	for n in $1; do
		guest_send "$n" "$2"
	done
	for n in $1; do
		guest_await "$n" || guests_fail "guest $n: '$2': exit $?: $answer"
		answers[n]=$answer
	done
}

# guest_kill N: end the guest like a power cut. Its log up to here must be clean.
guest_kill() {
	kill -USR2 "${guest_run[$1]}"
	kill -KILL "$(guest_emulator "$1")"
	guest_ended "$1"
}

# guest_stop N, guest_continue N: stop all processors of the guest, and let them go on.
guest_stop() {
	kill -STOP "$(guest_emulator "$1")"
}

guest_continue() {
	kill -CONT "$(guest_emulator "$1")"
}

# guest_end N: let the guest end by itself.
guest_end() {
	guest_send "$1" end
	guest_ended "$1"
}

guest_ended() {
	local rc=0
	wait "${guest_run[$1]}" || rc=$?
	unset "guest_run[$1]"
	((!rc)) || guests_fail "guest $1, boot ${guest_boots[$1]}: exit $rc: $(tail -n 30 "$GUESTS_LOGS/$1.${guest_boots[$1]}.out")"
}

# guests_end: end all guests and the network.
guests_end() {
	local n
	for n in "${!guest_run[@]}"; do
		guest_send "$n" end
	done
	for n in "${!guest_run[@]}"; do
		guest_ended "$n"
	done
}
