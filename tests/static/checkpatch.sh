#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# checkpatch.pl --strict finds nothing in what the kernel compiles.
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"

# file|types that are wrong about it|why
exceptions='
uapi/nearcache_counters.h|COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED|a table of X macros cannot be an expression
kmod/netlink.c|MACRO_ARG_UNUSED,TRAILING_SEMICOLON,CONSTANT_COMPARISON|X macros, and numbers, that are compared at compile time
kmod/trace.h|OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT|the layout of every trace header of the kernel
'

# In the tree of checkpatch: it leaves a cache file where it runs.
cd "$BUILD/kselftest" || exit
checkpatch() {
	local ignore
	ignore=FILE_PATH_CHANGES,$(awk -F '|' -v file="$1" '$1 == file { print $2 }' <<<"$exceptions")
	perl scripts/checkpatch.pl --strict --no-tree --terse --no-summary --ignore "${ignore%,}" --file "$TOP/$1"
}

for file in "$TOP"/kmod/*.[ch] "$TOP"/uapi/*.h; do
	# What is generated is as it is.
	[[ $file == *_gen.[ch] ]] || check "${file#"$TOP"/}" checkpatch "${file#"$TOP"/}"
done
finish
