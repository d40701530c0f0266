# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for a cache device, $C on dm device 'slice' on $local, that fails on demand until it is
# bypassed: . ./given_up.sh (includes cache.sh). $generation is the generation on the origin.
. ./cache.sh

# lies NAME error|linear|unwritable [DEV]: let the dm device NAME fail, work or refuse writes.
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

# given_up: let the cache device fail until it is bypassed.
given_up() {
	lies slice error
	wait_for 30 bypassed || fail "not bypassed"
	# Errors of hits led to the bypass, or of a commit that came first.
	[[ $(field reason) == [13] ]] || fail "reason is $(field reason)"
}

bypassed() {
	./blockdata read /dev/mapper/nc -b 8 -g "$generation" || fail "wrong data"
	[[ $(field state) == 1 ]]
}

# right: read everything twice, so that some reads hit; fail if data is wrong.
right() {
	check -g "$generation"
	settle
	check -g "$generation"
}

# back LOADED: the device works again, and a reload takes it back.
back() {
	lies slice linear
	reload || fail "reload"
	is state 0
	is reason 0
	is loaded "$1"
}
