#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every source file and document has its licence in the first line (in a script, the second).
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit

# sources: print all source files and documents; .clang-format is a file of the kernel, VERSION a number.
sources() {
	if [[ -e .git ]]; then
		git ls-files
	else
		find . -path ./build -prune -o -type f -print | sed 's,^\./,,'
	fi | grep -vE '^(COPYING|VERSION|\.clang-format)$|\.(svg|png|json)$'
}

# licences: print "FILE<tab>LICENCE" from the first line, or from the line after "#!".
licences() {
	local file files=()
	while read -r file; do
		[[ ! -f $file ]] || files+=("./$file")
	done < <(sources)
	LC_ALL=C awk '
	FNR == 1 && /^#(!|compdef )/ { next }
	FNR <= 2 && sub(/.*SPDX-License-Identifier: /, "") {
		sub(/ *(\*\/|-->|#\}) *$/, "")
		said[FILENAME] = $0
	}
	{ nextfile }
	END {
		for (i = 1; i < ARGC; i++)
			print substr(ARGV[i], 3) "\t" said[ARGV[i]]
	}' "${files[@]}"
}

# all_say LICENCES DIR: each file below DIR ('': all files) has one of these licences.
all_say() {
	local file found wrong=0
	while IFS=$'\t' read -r file found; do
		[[ $file == "$2"* ]] || continue
		[[ $found && "|$1|" == *"|$found|"* ]] || { echo "$file: '$found'"; wrong=1; }
	done <<<"$said_of_all"
	return "$wrong"
}

only_patch() {
	! grep -P "\t$library\$" <<<"$said_of_all" | grep -v '^helper/packaging/blkid/'
}

said_of_all=$(licences)
dual='GPL-2.0 OR BSD-3-Clause'
uapi='GPL-2.0 WITH Linux-syscall-note'
# The netlink generator accepts and emits only this licence.
spec='((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)'
# A patch for libblkid has the licence of libblkid.
library=LGPL-2.1-or-later
check 'every file has a licence' all_say "GPL-2.0-only|$dual|$uapi|$spec|$library" ''
check 'only the patch for libblkid has its licence' only_patch
check 'kmod is GPL-2.0-only' all_say "GPL-2.0-only|$spec" kmod/
check 'uapi may be used by user space' all_say "$dual|$uapi|$spec" uapi/
finish
