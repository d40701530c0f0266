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
