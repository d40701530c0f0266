# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache with a witness $W, in a writing mode: . ./witnessed.sh (includes cache.sh).
. ./cache.sh

# shellcheck disable=SC2034 # for the tests
NC=/dev/mapper/nc region=2048 # sectors

# get FIRST COUNT GENERATION: the cache returns this generation.
get() {
	./blockdata read "$NC" -s "$1" -n "$2" -g "$3" >/dev/null || fail "wrong data (line ${BASH_LINENO[0]})"
}

# session: all of the origin is cached and committed, and no region is marked.
session() {
	./blockdata write "$O"
	format
	./intent "$C" witness "$W" 0
	# Any device is slow on a busy machine: no timeout.
	start nc "4 cache_timeout 0 witness $W"
	check >/dev/null
	settle
	written_down
	is bytes_valid $(($(sectors "$O") * 512))
	is witness 1
	is intent_regions 0
	same "state on the medium" "$(./sbset "$C" get state)" 3
}
