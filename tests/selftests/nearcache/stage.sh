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
	wait_for 60 drained_to "$epoch" || fail "epoch $epoch is not on the origin: $(dmsetup status st)"
}

drained_to() {
	(($(stage drained_epoch) >= $1))
}

