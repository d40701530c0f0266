# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache between two devices that hold requests on demand (gate.c): . ./gate.sh
# (includes cache.sh). The devices are 'origin' and 'cache' to the gate, $O and $C here.
. ./cache.sh
# Hits stand at the gate for as long as a case takes.
OPTIONS='2 cache_timeout 0'

# gate COMMAND...: see gate.c; what it answers is in $REPLY.
gate() {
	local word=''
	echo "$*" >&"$gate_in"
	IFS=' ' read -r -t $((90 * SLOW)) word REPLY <&"$gate_out"
	[[ $word == ok ]] || fail "gate $*: $REPLY (line ${BASH_LINENO[*]})"
}

# gates [MB_OF_ORIGIN [MB_OF_CACHE [ATTRIBUTES_OF_BOTH]]]: the two devices, the origin
# full of sectors of generation 1.
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

# Nothing holds up what is still under way.
gate_open() {
	gate pass origin
	gate pass cache
	gate let origin all
	gate let cache all
}

# between MODE: an empty cache on them, live in that mode, and the origin as it was.
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

# next_block: no case sees what another one left.
next_block() {
	at=$((at + 128))
}

# expect WHAT: the last answer.
expect() {
	[[ $REPLY == "$1" ]] || fail "'$REPLY', expected '$1' (line ${BASH_LINENO[*]})"
}

# ends ID ANSWER
ends() {
	gate end "$1"
	expect "$2"
}

# gets FIRST COUNT RUNS: a read from the cache.
gets() {
	gate get "$NC" "$1" "$2"
	expect "$3"
}

# puts GENERATION FIRST COUNT: a write to the cache.
puts() {
	gate put "$NC" "$@"
	expect 'done'
}

# agrees FIRST COUNT RUNS: cache and origin hold the same.
agrees() {
	gate agree nc origin "$1" "$2"
	expect "$3"
}

# now VARIABLE FIELD: like field, without a process.
now() {
	gate value nc "$2"
	printf -v "$1" %s "$REPLY"
}

# more FIELD BEFORE [BY]: it has grown by so much.
more() {
	local value
	now value "$1"
	((value == $2 + ${3:-1})) || fail "$1 is $value, expected $2 + ${3:-1} (line ${BASH_LINENO[*]})"
}

# cached FIRST COUNT: read it, so that it is.
cached() {
	gate get "$NC" "$1" "$2"
	gate until nc fills_in_flight = 0
}

# done_by COMMAND...: gate COMMAND, which may fail; does it not?
done_by() {
	gate "$@"
	[[ $REPLY == 'done' ]]
}

# table: of the usual cache, in mode $MODE, with $OPTIONS; in $REPLY.
table() {
	REPLY="$gate_sectors nearcache ${MODE:-read-only} $O $C $OPTIONS"
}

# fill_slots: no slot is free. Blocks 0 and 1 have one, those from sector $spare on do not.
# Of a cache that was empty at its start it is chosen at random what stays (kmod/evict/spread.h).
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
