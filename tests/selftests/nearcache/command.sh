# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The nearcache command, called and judged: . ./command.sh, after lib.sh or common.sh.

# run WORDS...: nearcache with these words; sets $rc, leaves $out and $err.
run() {
	rc=0
	out=$(nearcache "$@" 2>"${TMPDIR:-/tmp}/err") || rc=$?
	err=$(<"${TMPDIR:-/tmp}/err")
}

# good WORDS...: must succeed, without a word on stderr.
good() {
	run "$@"
	[[ $rc == 0 && ! $err ]] || fail "nearcache $*: exit $rc, $err $out"
}

# bad CODE TEXT WORDS...: must fail with CODE and say TEXT, as text and as JSON.
bad() {
	local code=$1 text=$2
	shift 2
	run "$@"
	[[ $rc == "$code" ]] || fail "nearcache $*: exit $rc instead of $code: $err"
	[[ $err == *"$text"* ]] || fail "nearcache $*: no '$text' in '$err'"
	run -j "$@"
	[[ $rc == "$code" ]] || fail "nearcache -j $*: exit $rc instead of $code"
	json_valid "nearcache -j $*"
	[[ $out == *"\"code\": $code"* && $out == *'"message": '* && ! $err ]] ||
		fail "nearcache -j $*: no JSON error: $out $err"
}

# json_valid WHAT: $out is a document of schema 1; jq is used where there is one.
json_valid() {
	[[ $out == '{'*'"schema": 1'*'}' ]] || fail "$1: not JSON of schema 1: $out"
	! type -P jq >/dev/null || jq -e .schema <<<"$out" >/dev/null || fail "$1: jq refuses: $out"
}

# json_keys KEY...: every key is there, in this order, and the last call was JSON.
json_keys() {
	local keys key
	json_valid "$*"
	keys=" $(sed -nE 's/^ *"([a-z_0-9]+)": .*/\1/p' <<<"$out" | tr '\n' ' ')"
	for key; do
		[[ $keys == *" $key "* ]] || fail "no '$key' in order in: $keys"
		keys=" ${keys#*" $key "}"
	done
}

# json KEY: the first scalar of that name.
json() {
	local pattern=$'\n'" *\"$1\": \"?([^\","$'\n'"]*)\"?,?"$'\n'
	[[ $'\n'$out$'\n' =~ $pattern ]] || return 0
	echo "${BASH_REMATCH[1]}"
}

# expect KEY VALUE...: pairs, of the last JSON.
expect() {
	while (($#)); do
		[[ $(json "$1") == "$2" ]] || fail "'$1' is '$(json "$1")', not '$2': $out"
		shift 2
	done
}

# injected WHAT WORDS...: nearcache with these words, while strace does WHAT to a system call
# of it, as in ioctl:error=EIO:when=3, or nothing: ioctl. Sets $rc; the calls are in
# $TMPDIR/trace, what it said is in $TMPDIR/said.
injected() {
	local options=(-e "trace=${1%%:*}")
	[[ $1 != *:* ]] || options+=(-e "inject=$1")
	# All other calls are as quick as ever then. But no signal arrives where it stops.
	[[ $1 == *:signal=* ]] || options+=(-f --seccomp-bpf)
	rc=0
	strace -qq -o "$TMPDIR/trace" "${options[@]}" nearcache "${@:2}" \
		>"$TMPDIR/said" 2>&1 || rc=$?
}
