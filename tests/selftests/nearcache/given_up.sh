# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache device, $C on dm device 'slice' on $local, that fails on demand, until it is
# given up: . ./given_up.sh (includes cache.sh). $generation is what the origin holds.
. ./cache.sh

# lies NAME ERROR|LINEAR|FLAKEY: what is under the cache device now.
lies() {
	dmsetup load --noudevsync "$1" --table "$(under "$2" "${3:-$local}")" &&
		dmsetup resume --noudevsync "$1" || fail "$1 becomes $2"
}

under() {
	local size
	size=$(sectors "$2")
	case $1 in
	error) echo "0 $size error" ;;
	linear) echo "0 $size linear $2 0" ;;
	unwritable) echo "0 $size flakey $2 0 0 3600 1 error_writes" ;;
	esac
}

# given_up: it fails until it is bypassed.
given_up() {
	lies slice error
	wait_for 30 bypassed || fail "not bypassed"
	# Errors of hits, or of a commit that came first.
	[[ $(field reason) == [13] ]] || fail "reason is $(field reason)"
}

bypassed() {
	./blockdata read /dev/mapper/nc -b 8 -g "$generation" || fail "wrong data"
	[[ $(field state) == 1 ]]
}

# right: all of it, twice, so that hits are among it.
right() {
	check -g "$generation"
	settle
	check -g "$generation"
}

# back LOADED: it is taken back.
back() {
	lies slice linear
	reload || fail "reload"
	is state 0
	is reason 0
	is loaded "$1"
}
