# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache with a witness $W, in a writing mode: . ./witnessed.sh (includes cache.sh).
. ./cache.sh

# shellcheck disable=SC2034 # for the tests
NC=/dev/mapper/nc region=2048 # sectors

# get FIRST COUNT GENERATION: fail unless the cache returns this generation.
get() {
	./blockdata read "$NC" -s "$1" -n "$2" -g "$3" >/dev/null || fail "wrong data (line ${BASH_LINENO[0]})"
}

# session: start a write session in which all is cached and committed, and no region marked.
session() {
	./blockdata write "$O"
	format
	./intent "$C" witness "$W" 0
	# cache_timeout 0: any device is slow on a busy machine and would be bypassed.
	start nc "4 cache_timeout 0 witness $W"
	check >/dev/null
	settle
	written_down
	is bytes_valid $(($(sectors "$O") * 512))
	is witness 1
	is intent_regions 0
	same "state on the medium" "$(./sbset "$C" get state)" 3
}
