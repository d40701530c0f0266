# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions that run nearcache and check its answer: . ./command.sh, after lib.sh or common.sh.

# run WORDS...: run nearcache; sets $rc (exit code), $out and $err.
run() {
	rc=0
	out=$(nearcache "$@" 2>"${TMPDIR:-/tmp}/err") || rc=$?
	err=$(<"${TMPDIR:-/tmp}/err")
}

# good WORDS...: run nearcache; it must succeed and print nothing on stderr.
good() {
	run "$@"
	[[ $rc == 0 && ! $err ]] || fail "nearcache $*: exit $rc, $err $out"
}

# bad CODE TEXT WORDS...: run nearcache with and without -j; it must exit with CODE and print TEXT.
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

# json_valid WHAT: $out must be a JSON document of schema 1; jq checks it if it is installed.
json_valid() {
	[[ $out == '{'*'"schema": 1'*'}' ]] || fail "$1: not JSON of schema 1: $out"
	! type -P jq >/dev/null || jq -e .schema <<<"$out" >/dev/null || fail "$1: jq refuses: $out"
}

# json_keys KEY...: the JSON of the last call must contain all keys in this order.
json_keys() {
	local keys key
	json_valid "$*"
	keys=" $(sed -nE 's/^ *"([a-z_0-9]+)": .*/\1/p' <<<"$out" | tr '\n' ' ')"
	for key; do
		[[ $keys == *" $key "* ]] || fail "no '$key' in order in: $keys"
		keys=" ${keys#*" $key "}"
	done
}

# json KEY: print the first scalar with this key in the JSON $out; nothing if there is none.
json() {
	local pattern=$'\n'" *\"$1\": \"?([^\","$'\n'"]*)\"?,?"$'\n'
	[[ $'\n'$out$'\n' =~ $pattern ]] || return 0
	echo "${BASH_REMATCH[1]}"
}

# expect KEY VALUE...: fail unless the JSON $out has each KEY with its VALUE.
expect() {
	while (($#)); do
		[[ $(json "$1") == "$2" ]] || fail "'$1' is '$(json "$1")', not '$2': $out"
		shift 2
	done
}

# no_settings: from now on, nearcache opens a cache only with the options that it is given.
no_settings() {
	nearcache() {
		rm -rf /var/lib/nearcache/settings
		command nearcache "$@"
	}
}

# injected WHAT WORDS...: run nearcache under strace. WHAT is a system call, with an optional
# injection: ioctl, or ioctl:error=EIO:when=3. Sets $rc; the traced calls are in $TMPDIR/trace, the
# command's output in $TMPDIR/said.
injected() {
	local options=(-e "trace=${1%%:*}")
	[[ $1 != *:* ]] || options+=(-e "inject=$1")
	# --seccomp-bpf keeps untraced calls fast, but with it strace injects no signals.
	[[ $1 == *:signal=* ]] || options+=(-f --seccomp-bpf)
	rc=0
	strace -qq -o "$TMPDIR/trace" "${options[@]}" nearcache "${@:2}" \
		>"$TMPDIR/said" 2>&1 || rc=$?
}
