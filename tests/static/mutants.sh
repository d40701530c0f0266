#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The patches of tests/mutants, which each remove a rule from the module, apply to the current
# sources, and each names existing tests that catch it.
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP" || exit

all_apply() {
	local file failed=0
	for file in tests/mutants/*.patch; do
		patch -p1 --dry-run --fuzz=0 -s <"$file" >/dev/null 2>&1 ||
			{ echo "$file does not apply: make it anew"; failed=1; }
	done
	return "$failed"
}

# all_name_tests: fail unless the tests that each patch names exist, in a guest or on the host.
all_name_tests() {
	local file test tests failed=0
	for file in tests/mutants/*.patch; do
		tests=$(sed -n 's/^Caught-by: //p' "$file")
		[[ $tests ]] || { echo "$file names no test"; failed=1; }
		for test in $tests; do
			[[ $(find tests/selftests/nearcache tests/selftests/host tests/fuzz tests/unit \
				\( -name "$test.sh" -o -name "$test.c" -o -name "${test}_test.c" \) -print -quit) ]] ||
				{ echo "$file: there is no test $test"; failed=1; }
		done
	done
	return "$failed"
}

check 'every mutant applies' all_apply
check 'every mutant names tests' all_name_tests
finish
