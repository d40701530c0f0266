# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the log of a session is told of it (tests/crash/crash.c): . ./logged.sh, after cache.sh.
# The logger is the dm device $logger, the origin $O.
# shellcheck disable=SC2154 # $logger
generation=1 # of what was written to the origin last

mark() {
	dmsetup message "$logger" 0 mark "$1" || fail "mark"
}

# change FIRST COUNT [all]: somebody writes to the origin, whatever is read and evicted meanwhile,
# and says so.
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
