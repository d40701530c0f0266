# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions that send netlink requests: . ./asking.sh (includes cache.sh).
. ./cache.sh

# ask WORDS...: the request must be answered; the answer is in $out.
ask() {
	# shellcheck disable=SC2034 # for the tests
	out=$(./genl "$@" 2>"$TMPDIR/err") || fail "genl $*: $(<"$TMPDIR/err") (lines ${BASH_LINENO[*]})"
}

# refused ERROR TEXT WORDS...: the request must fail with ERROR and a message that contains TEXT.
refused() {
	local said
	! said=$(./genl "${@:3}" 2>&1 >/dev/null) || fail "genl ${*:3}: not refused (lines ${BASH_LINENO[*]})"
	[[ $said == "$1:"*"$2"* ]] || fail "genl ${*:3}: '$said', not '$1: $2'"
}

# says NAME VALUE: fail unless the last answer has this attribute.
says() {
	[[ $'\n'$out$'\n' == *$'\n'"$1=$2"$'\n'* ]] || fail "no $1=$2 (lines ${BASH_LINENO[*]}) in: $out"
}

# devt PATH: print the number of a device as netlink encodes it.
devt() {
	local number
	number=$(number "$1")
	echo $((${number%:*} << 20 | ${number#*:}))
}

# listen COUNT: start a process that writes COUNT events to $TMPDIR/heard; sets $listener.
listen() {
	./genl listen "$1" "$TMPDIR/listening" >"$TMPDIR/heard" &
	listener=$!
	at_exit listen_no_more
	wait_for 10 listening || fail "the listener did not start"
}

listening() {
	[[ -e $TMPDIR/listening ]]
}

listen_no_more() {
	[[ ! -e /proc/$listener ]] || kill "$listener"
}
