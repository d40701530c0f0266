#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# checkpatch.pl --strict finds nothing in the sources of the module and of the BPF programs.
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"

# file|message types that do not apply|reason
exceptions='
uapi/nearcache_counters.h|COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED|a table of X macros cannot be an expression
kmod/netlink/family.c|MACRO_ARG_UNUSED,TRAILING_SEMICOLON,CONSTANT_COMPARISON|X macros, and numbers, that are compared at compile time
kmod/netlink/range.c|MACRO_ARG_UNUSED,TRAILING_SEMICOLON,CONSTANT_COMPARISON|as in netlink.c
uapi/nearcache_stage.h|COMPLEX_MACRO,MACRO_ARG_REUSE|as in nearcache_counters.h
kmod/stage/stage.h|TRAILING_SEMICOLON|as in family.c
kmod/dm/option.h|MACRO_ARG_REUSE|the argument is the name of a member
bpf/classify.bpf.c|VOLATILE|what a loader sets is not for the compiler to take for granted
bpf/heat.bpf.c|VOLATILE|as in classify.bpf.c
kmod/core/tracepoints.h|OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT|the layout of every trace header of the kernel
'

files=()
for file in "$TOP"/kmod/*.[ch] "$TOP"/kmod/*/*.[ch] "$TOP"/uapi/*.h "$TOP"/bpf/*.[ch] "$TOP"/bpf/examples/*.c; do
	# Skip generated files.
	[[ $file == *_gen.[ch] ]] || files+=("$file")
done

# Run one process for all files, in its own tree, because it leaves a cache file there.
cd "$BUILD/kselftest" || exit
ended=0
findings=$(perl scripts/checkpatch.pl --strict --no-tree --terse --no-summary --show-types \
	--ignore FILE_PATH_CHANGES --file "${files[@]}" 2>&1) || ended=$?

# clean FILE: checkpatch.pl has read it and found only exceptions.
clean() {
	local types
	# Exit code 1 means findings, any higher one that it broke off.
	((ended <= 1)) || { echo "checkpatch.pl ended with $ended: ${findings##*$'\n'}"; return 1; }
	types=$(awk -F '|' -v file="${1#"$TOP"/}" '$1 == file { print $2 }' <<<"$exceptions")
	# FILE:LINE: LEVEL:TYPE: TEXT
	awk -v file="$1" -v types=",$types," '
	index($0, file ":") == 1 {
		split(substr($0, length(file) + 1), word, /[: ]+/)
		if (!index(types, "," word[4] ",")) {
			print
			wrong = 1
		}
	}
	END { exit wrong }' <<<"$findings"
}

for file in "${files[@]}"; do
	check "${file#"$TOP"/}" clean "$file"
done
finish
