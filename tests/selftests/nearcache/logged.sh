# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions that add marks to the log of a session (tests/crash/crash.c): . ./logged.sh, after
# cache.sh. The logger is the dm device $logger, the origin $O.
# shellcheck disable=SC2154 # $logger
generation=1 # of the last write to the origin

mark() {
	dmsetup message "$logger" 0 mark "$1" || fail "mark"
}

# change FIRST COUNT [all]: change the origin from outside and report it with an invalidate, while
# other sectors are read and evicted.
change() {
	generation=$((generation + 1))
	mark "changing,$1,$2"
	./blockdata write "$O" -g $generation -s "$1" -n "$2"
	if [[ ${3:-} ]]; then
		mark telling
		dmsetup message nc 0 invalidate all
	else
		dmsetup message nc 0 invalidate "$1" "$2"
	fi || fail "invalidate"
	mark "told,$generation,$1,$2"
}
