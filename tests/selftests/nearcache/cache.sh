# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions that create and check caches: . ./cache.sh (includes common.sh).
#
# The default origin is $O, the default cache device $C, the default cache /dev/mapper/nc.
# Sizes are in MiB unless noted.
. ./common.sh

# Directory of the test programs; an absolute path, so that it stays valid after a cd.
NC_TOOLS=$PWD
declare -A NC_AT
# shellcheck disable=SC2034 # read through NC_AT
mapfile -t NC_NAMES < <(./status_names)
for ((i = 0; i < ${#NC_NAMES[@]}; i++)); do
	# dmsetup status prints "start length target" before these fields.
	NC_AT[${NC_NAMES[i]}]=$((i + 3))
done

# make_null VARIABLE NAME MB [ATTRIBUTE=VALUE...]: create a null_blk device and store its path in
# VARIABLE. It is removed when the test ends.
make_null() {
	local -n made=$1
	made=$(null_dev "${@:2}") || fail "null_dev ${*:2}"
	at_exit null_del "$2"
}

# make_loop VARIABLE MB BLOCK_SIZE: as make_null, but a loop device. With 4096-byte blocks, null_blk
# returns wrong data for buffers that are aligned only to sectors.
make_loop() {
	local -n made=$1
	local file
	file=$(mktemp "$TMPDIR/loop.XXXXXX")
	truncate -s "$2M" "$file"
	modprobe loop || skip "no loop devices"
	made=$(losetup -b "$3" -f --show "$file") || fail "losetup with blocks of $3"
	at_exit losetup -d "$made"
}

# make_group VARIABLE [CONTROLLERS]: create a control group "job" and store its folder in
# VARIABLE. It is removed when the test ends.
make_group() {
	local -n made=$1
	local groups=$TMPDIR/groups
	mkdir "$groups"
	mount -t cgroup2 none "$groups" || fail "no control groups"
	at_exit umount "$groups"
	[[ ! ${2:-} ]] || echo "$2" >"$groups/cgroup.subtree_control" ||
		skip "the controllers are in use"
	made=$groups/job
	mkdir "$made"
	at_exit rmdir "$made"
}

# in_group GROUP COMMAND...: run COMMAND as a member of the group, in one process (no fork).
in_group() {
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@" || fail "in the group: $*"
}

# number DEV: print its major:minor.
number() {
	cat "$(sys_block "$1")/dev"
}

# make_dm VARIABLE NAME TABLE [dmsetup options]: as make_null, but a dm device.
make_dm() {
	local -n made=$1
	made=$(dm_create "${@:2}") || fail "dm_create ${*:2}"
	at_exit dm_gone "$2"
}

dm_gone() {
	! dmsetup info "$1" >/dev/null 2>&1 || dm_remove "$1"
}

# sectors DEV: print the size of DEV in sectors.
sectors() {
	local size
	# Read the size from sysfs if possible: this saves a process.
	if [[ $1 == "/dev/${1##*/}" ]] && read -r size 2>/dev/null <"/sys/class/block/${1##*/}/size"; then
		echo "$size"
		return
	fi
	blockdev --getsz "$1"
}

# format [CACHE [ORIGIN [BLOCK_SIZE]]]: format the cache device; $INTEGRITY=crc32c adds checksums.
format() {
	nearcache create fmt --cache "${1:-$C}" --origin "${2:-$O}" --block-size "${3:-64K}" \
		--integrity "${INTEGRITY:-none}" --format-only --force >/dev/null || fail "cannot format ${1:-$C}"
}

# line [OPTIONS [ORIGIN [CACHE]]]: print the table line; mode $MODE (default read-only), options
# $OPTIONS by default.
line() {
	echo "0 $(sectors "${2:-$O}") nearcache ${MODE:-read-only} ${2:-$O} ${3:-$C} ${1:-${OPTIONS:-}}"
}

# reload [OPTIONS [ORIGIN [CACHE [NAME]]]]: load and activate a new table, e.g. with another $MODE.
reload() {
	dmsetup load "${4:-nc}" --table "$(line "${@:1:3}")" && dmsetup resume "${4:-nc}"
}

# becomes NAME TABLE: replace the table of a dm device that a cache uses.
becomes() {
	dmsetup suspend --noflush --nolockfs "$1" && dmsetup load "$1" --table "$2" &&
		dmsetup resume "$1" || fail "cannot replace the table of $1 by: $2"
}

# start [NAME [OPTIONS [ORIGIN [CACHE]]]]: create the dm device of a formatted cache; see line.
start() {
	local path
	make_dm path "${1:-nc}" "$(line "${@:2}")"
}

# stop [NAME]: remove the dm device.
stop() {
	dm_remove "${1:-nc}" || fail "cannot remove ${1:-nc}"
}

# fresh [MB_OF_ORIGIN [MB_OF_CACHE [OPTIONS]]]: create both devices without delay, fill the
# origin with sectors of generation 1, and create the cache.
fresh() {
	make_null O origin "${1:-16}"
	make_null C local "${2:-24}"
	./blockdata write "$O"
	format
	start nc "${3:-}"
}

# look VARIABLE NAME [DM_NAME]: like field, but store the result in VARIABLE (no subshell).
look() {
	local words
	read -ra words < <("$NC_TOOLS/status_line" "${3:-nc}")
	[[ ${NC_AT[$2]:-} && ${words[2]:-} == nearcache ]] || fail "no status field '$2' of ${3:-nc}"
	printf -v "$1" %s "${words[NC_AT[$2]]}"
}

# field NAME [DM_NAME]: print the status field NAME.
field() {
	local word
	look word "$@"
	echo "$word"
}

no_fills() {
	local fills
	look fills fills_in_flight "$@"
	((!fills))
}

# settle [DM_NAME]: wait until no fill is in flight.
settle() {
	wait_for 30 no_fills "$@" || fail "fills do not end: $(dmsetup status "${1:-nc}")"
}

# is NAME VALUE [DM_NAME]: fail unless the status field has this value.
is() {
	local now
	look now "$1" "${3:-nc}"
	[[ $now == "$2" ]] || fail "$1 is $now, expected $2 (line ${BASH_LINENO[0]})"
}

# above NAME VALUE [DM_NAME]: fail unless the status field is larger than VALUE.
above() {
	local now
	look now "$1" "${3:-nc}"
	((now > $2)) || fail "$1 is $now, expected more than $2 (line ${BASH_LINENO[0]})"
}

# same WHAT NOW EXPECTED: fail, naming WHAT, unless NOW equals EXPECTED.
same() {
	[[ $2 == "$3" ]] || fail "$1: $2, expected $3 (line ${BASH_LINENO[0]})"
}

# written_down: commit the slot table, by a suspend.
written_down() {
	dmsetup suspend --noudevsync nc && dmsetup resume --noudevsync nc ||
		fail "suspend and resume"
}

# log_mark; ...; log_since: print the kernel log lines written in between.
log_mark() {
	log_marks=$((${log_marks:-0} + 1))
	echo "nearcache-test: mark $$.$log_marks" >/dev/kmsg
}

log_since() {
	dmesg | sed "1,/nearcache-test: mark $$\.$log_marks\$/d"
}

# origin_mark; ...; origin_delta [DEV]: print the bytes read from the origin in between.
origin_mark() {
	origin_before=$(origin_reads "${1:-$O}")
}

origin_delta() {
	echo $(($(origin_reads "${1:-$O}") - origin_before))
}

# check [options of blockdata read]: read the cache; fail unless it returns the right data.
check() {
	./blockdata read /dev/mapper/nc "$@" || fail "wrong data (line ${BASH_LINENO[0]})"
}

is_open() {
	[[ $(dmsetup info -c --noheadings -o open nc) != 0 ]]
}

# verify_begin [options]: start readers that keep the device open and check data until verify_end.
verify_begin() {
	verify_stop=$TMPDIR/verify-stop
	rm -f "$verify_stop"
	./blockdata read /dev/mapper/nc -f "$verify_stop" "$@" >"$TMPDIR/verify-log" &
	verify_pid=$!
	at_exit verify_kill
	wait_for 30 is_open || fail "readers: $(tail -n 5 "$TMPDIR/verify-log")"
}

verify_kill() {
	touch "$verify_stop"
	wait "$verify_pid" || true
}

verify_end() {
	touch "$verify_stop"
	wait "$verify_pid" || fail "readers: $(tail -n 5 "$TMPDIR/verify-log")"
	cat "$TMPDIR/verify-log"
}
