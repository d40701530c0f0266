# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache between two devices that hold requests on demand (gate.c): . ./gate.sh (includes
# cache.sh). The gate calls the devices 'origin' and 'cache'; here they are $O and $C.
. ./cache.sh
# The gate may hold hits for any time: no timeout.
OPTIONS='2 cache_timeout 0'

# gate COMMAND...: send a command to gate.c; its answer is in $REPLY.
gate() {
	local word=''
	echo "$*" >&"$gate_in"
	IFS=' ' read -r -t $((90 * SLOW)) word REPLY <&"$gate_out"
	[[ $word == ok ]] || fail "gate $*: $REPLY (line ${BASH_LINENO[*]})"
}

# gates [MB_OF_ORIGIN [MB_OF_CACHE [ATTRIBUTES_OF_BOTH]]]: create the two devices and fill the
# origin with sectors of generation 1.
gates() {
	modprobe nbd max_part=0 || skip "no network block devices"
	coproc GATE { exec ./gate; }
	gate_pid=$GATE_PID
	exec {gate_out}<&"${GATE[0]}" {gate_in}>&"${GATE[1]}"
	at_exit gate_quit
	gate device origin "${1:-8}" "${@:3}"
	O=$REPLY
	gate device cache "${2:-16}" "${@:3}"
	C=$REPLY
	gate_sectors=$((${1:-8} * 2048))
	gate fill origin 1 0 $gate_sectors
}

gate_quit() {
	eval "exec ${GATE[1]}>&- $gate_in>&- ${GATE[0]}<&- $gate_out<&-"
	wait "$gate_pid"
}

# gate_open: let all held requests go.
gate_open() {
	gate pass origin
	gate pass cache
	gate let origin all
	gate let cache all
}

# between MODE: an empty cache in that mode, new or reloaded, on an origin of generation 1.
between() {
	MODE=$1 at=0
	gate fill origin 1 0 "$gate_sectors"
	if [[ ${gate_live:-} ]]; then
		reload || fail "reload to $1"
		dmsetup message nc 0 invalidate all || fail "invalidate all"
		return
	fi
	format
	start
	gate_live=1
	at_exit gate_open
}

# next_block: let $at point to a block that no earlier case used.
next_block() {
	at=$((at + 128))
}

# expect ANSWER: the last command must have got this answer.
expect() {
	[[ $REPLY == "$1" ]] || fail "'$REPLY', expected '$1' (line ${BASH_LINENO[*]})"
}

# ends ID ANSWER: the request ends with this answer.
ends() {
	gate end "$1"
	expect "$2"
}

# gets FIRST COUNT RUNS: read from the cache.
gets() {
	gate get "$NC" "$1" "$2"
	expect "$3"
}

# puts GENERATION FIRST COUNT: write to the cache.
puts() {
	gate put "$NC" "$@"
	expect 'done'
}

# agrees FIRST COUNT RUNS: cache and origin hold the same data.
agrees() {
	gate agree nc origin "$1" "$2"
	expect "$3"
}

# now VARIABLE FIELD: like field, without a new process.
now() {
	gate value nc "$2"
	printf -v "$1" %s "$REPLY"
}

# more FIELD BEFORE [BY]: the field is BEFORE + BY (1).
more() {
	local value
	now value "$1"
	((value == $2 + ${3:-1})) || fail "$1 is $value, expected $2 + ${3:-1} (line ${BASH_LINENO[*]})"
}

# cached FIRST COUNT: read these sectors and wait until they are cached.
cached() {
	gate get "$NC" "$1" "$2"
	gate until nc fills_in_flight = 0
}

# done_by COMMAND...: run a gate command that may fail; true if it succeeded.
done_by() {
	gate "$@"
	[[ $REPLY == 'done' ]]
}

# table: put the table of the usual cache into $REPLY, with mode $MODE and options $OPTIONS.
table() {
	REPLY="$gate_sectors nearcache ${MODE:-read-only} $O $C $OPTIONS"
}

# fill_slots: use every slot. Blocks 0 and 1 are cached, blocks from sector $spare on are not. The
# cache is restarted first: one that started empty retains a pseudo-random part of the blocks read.
fill_slots() {
	local blocks used
	cached 0 256
	stop
	start
	at_exit gate_open
	now used blocks_used
	((used == 2)) || fail "$used blocks are warm, not 2"
	now blocks blocks
	for ((spare = 0; used < blocks; spare += 256)); do
		cached $spare 256
		now used blocks_used
	done
}

# shellcheck disable=SC2034 # for the tests
NC=/dev/mapper/nc
