# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache between two devices that hold requests on demand (gate.c): . ./gate.sh (includes
# cache.sh). The gate calls the devices 'origin' and 'cache'; here they are $O and $C.
. ./cache.sh
# The gate may hold a hit for any time: with cache_timeout 0 the cache waits for it.
OPTIONS='2 cache_timeout 0'

# gate COMMAND...: send a command to gate.c; sets $REPLY to the text after "ok", fails on FAIL.
gate() {
	local word=''
	echo "$*" >&"$gate_in"
	IFS=' ' read -r -t $((90 * SLOW)) word REPLY <&"$gate_out"
	[[ $word == ok ]] || fail "gate $*: $REPLY (line ${BASH_LINENO[*]})"
}

# gate_start: start the program.
gate_start() {
	modprobe nbd max_part=0 || skip "no network block devices"
	coproc GATE { exec ./gate; }
	gate_pid=$GATE_PID
	exec {gate_out}<&"${GATE[0]}" {gate_in}>&"${GATE[1]}"
	at_exit gate_quit
}

# gates [MB_OF_ORIGIN [MB_OF_CACHE [ATTRIBUTES_OF_BOTH]]]: create the two devices and fill the
# origin with sectors of generation 1.
gates() {
	gate_start
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

# gate_open: delete all rules and answer all held requests.
gate_open() {
	gate pass origin
	gate pass cache
	gate let origin all
	gate let cache all
}

# between MODE: make an empty cache in this mode, new or by a reload, on an origin of generation 1.
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

# next_block: set $at to the first sector of a block that no earlier case used.
next_block() {
	at=$((at + 128))
}

# expect ANSWER: fail unless the last command got this answer.
expect() {
	[[ $REPLY == "$1" ]] || fail "'$REPLY', expected '$1' (line ${BASH_LINENO[*]})"
}

# ends ID ANSWER: wait for the end of the request; fail unless it has this answer.
ends() {
	gate end "$1"
	expect "$2"
}

# gets FIRST COUNT RUNS: read through the cache; fail unless the data are RUNS (gate_runs.h).
gets() {
	gate get "$NC" "$1" "$2"
	expect "$3"
}

# puts GENERATION FIRST COUNT: write through the cache; fail on an error.
puts() {
	gate put "$NC" "$@"
	expect 'done'
}

# agrees FIRST COUNT RUNS: fail unless cache and origin return these data.
agrees() {
	gate agree nc origin "$1" "$2"
	expect "$3"
}

# now VARIABLE FIELD: store the status field in VARIABLE; starts no process.
now() {
	gate value nc "$2"
	printf -v "$1" %s "$REPLY"
}

# more FIELD BEFORE [BY]: fail unless the status field is BEFORE + BY (1).
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

# fill_slots: give every slot a block. Blocks 0 and 1 are then cached, blocks from sector $spare on
# are not. Restarts the cache, because one that started empty retains a random part of the blocks.
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
