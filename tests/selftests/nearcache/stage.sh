# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions that create and check stage devices: . ./stage.sh (includes cache.sh).
#
# The origin is $O, the log $L, the stage /dev/mapper/st.
. ./cache.sh

declare -A ST_AT
mapfile -t ST_NAMES < <(./status_names stage)
for ((i = 0; i < ${#ST_NAMES[@]}; i++)); do
	ST_AT[${ST_NAMES[i]}]=$((i + 3))
done

# stage_line [OPTIONS]: print the table line of the stage.
stage_line() {
	echo "0 $(sectors "$O") nearcache-stage $L $O${1:+ $(wc -w <<<"$1") $1}"
}

# stage_start [OPTIONS]: create the device /dev/mapper/st.
stage_start() {
	dm_create st "$(stage_line "${1:-}")" >/dev/null || fail "no stage: $(stage_line "${1:-}")"
}

stage_stop() {
	dm_gone st
}

# fresh_stage ORIGIN_MB LOG_MB [OPTIONS]: format a log and start a stage.
fresh_stage() {
	make_null O origin "$1"
	# A volatile cache, so that small epochs get checked commits.
	make_null L log "$2" cache_size=1
	./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
	at_exit stage_stop
	stage_start "${3:-}"
}

# stage FIELD: print a field of the status line.
stage() {
	local fields
	read -ra fields < <(dmsetup status --noflush st)
	echo "${fields[${ST_AT[$1]}]}"
}

# stage_commit: commit the open epoch and print the newest one's number.
stage_commit() {
	dmsetup message st 0 commit
}

# stage_drained: wait until all that was written is on the origin.
stage_drained() {
	local epoch
	epoch=$(stage_commit) || fail "commit: $epoch"
	wait_for 60 stage_above drained_epoch "$epoch" ||
		fail "epoch $epoch is not on the origin: $(dmsetup status st)"
}

# gated_stage ORIGIN_MB LOG_MB [OPTIONS]: as fresh_stage, on the devices 'origin' and 'log' of gate.c,
# with an origin of generation 1. The test includes gate.sh, too.
gated_stage() {
	gate_start
	gate device origin "$1" trim zeroes flush fua
	O=$REPLY
	gate device log "$2" trim zeroes flush fua
	L=$REPLY
	# shellcheck disable=SC2034 # for gate.sh
	NC=/dev/mapper/st
	gate fill origin 1 0 "$(($1 * 2048))"
	./stage_format "$L" "$(sectors "$O")" || fail "stage_format"
	at_exit stage_stop
	at_exit stage_gates_open
	stage_start "${3:-}"
}

# stage_gates_open: delete all rules and answer all held requests.
stage_gates_open() {
	gate pass origin
	gate pass log
	gate let origin all
	gate let log all
}

# origin_fails: fail all requests that change the origin, from now on.
origin_fails() {
	local class
	gate pass origin
	for class in write trim zeroes flush; do
		gate fail origin $class
	done
	gate let origin all fail
}

# stage_restart [OPTIONS]: remove the stage, and start it again from its log.
stage_restart() {
	stage_stop
	stage_start "${1:-}"
}

# stage_until FIELD NUMBER: wait until a field of the status line is at least NUMBER.
stage_until() {
	wait_for 30 stage_above "$@" || fail "$1 is not $2: $(dmsetup status --noflush st)"
}

stage_above() {
	(($(stage "$1") >= $2))
}

# writer_until PID COMMAND...: wait until COMMAND is true, however long this process needs until then.
writer_until() {
	until wait_for 1 "${@:2}"; do
		kill -0 "$1" 2>/dev/null || fail "the writer has ended before ${*:2}: $(dmsetup status --noflush st)"
	done
}

# stage_mode NUMBER: wait until the stage has this mode, enum nearcache_stage_mode.
stage_mode() {
	wait_for 30 stage_mode_is "$1" || fail "the mode is not $1: $(dmsetup status --noflush st)"
}

stage_mode_is() {
	(($(stage mode) == $1))
}

# stage_settled: wait until no request, no commit and no drain is under way.
stage_settled() {
	wait_for 30 stage_idle || fail "in flight: $(dmsetup status --noflush st)"
}

stage_idle() {
	(($(stage in_flight) == 0))
}

# begin_to_pass GENERATION [ID]: on a gated stage with on_full writethrough and max_behind, fill the log
# until the stage passes writes. With ID, the origin then holds this write of 8 sectors from 2048 on, so
# that the stage goes on passing.
begin_to_pass() {
	gate hold origin write
	./blockdata write "$NC" -s 8192 -n 4096 -g "$1" >"$TMPDIR/writer" &
	stage_until waiting 1
	stage_mode 1
	[[ ! ${2:-} ]] || gate write "$2" "$NC" "$1" 2048 8
	gate pass origin
	[[ ! ${2:-} ]] || gate hold origin write 2048 8
	gate let origin all
	wait $! || fail "writer: $(<"$TMPDIR/writer")"
	stage_mode 2
	[[ ! ${2:-} ]] || gate held origin 1
}
