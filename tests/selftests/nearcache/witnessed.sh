# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache with a witness $W, in a writing mode: . ./witnessed.sh (includes cache.sh).
. ./cache.sh

# shellcheck disable=SC2034 # for the tests
NC=/dev/mapper/nc region=2048 # sectors

# make_witnessed: create an origin $O, a cache device $C on $c, and a witness $W on $w. A test can
# pull out $C and $W.
# shellcheck disable=SC2154 # make_null and make_dm set them
make_witnessed() {
	make_null O origin 16
	make_null c local 24
	make_null w witness 1
	make_dm C cache "0 $(sectors "$c") linear $c 0"
	make_dm W witness "0 $(sectors "$w") linear $w 0"
}

# put FIRST COUNT GENERATION: write this generation.
put() {
	./blockdata write "$NC" -s "$1" -n "$2" -g "$3"
}

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
