#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every source file says its licence in its first line (the second of a script).
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit

# .clang-format is the kernel's own.
sources() {
	if [[ -e .git ]]; then
		git ls-files
	else
		find . -path ./build -prune -o -type f -print | sed 's,^\./,,'
	fi | grep -vE '^(COPYING|\.clang-format)$|\.(md|svg|png|json)$'
}

# all_say LICENCES DIR: each file below DIR (all for '') says one of them.
all_say() {
	local file found wrong=0
	while read -r file; do
		[[ -f $file && $file == "$2"* ]] || continue
		found=$(head -n 2 "$file" | sed '1 { /^#!/ d }' | head -n 1 |
			sed -nE 's,.*SPDX-License-Identifier: ,,; T; s, *(\*/|-->) *$,,; p')
		[[ "|$1|" == *"|$found|"* ]] && [[ $found ]] || { echo "$file: '$found'"; wrong=1; }
	done < <(sources)
	return "$wrong"
}

dual='GPL-2.0 OR BSD-3-Clause'
uapi='GPL-2.0 WITH Linux-syscall-note'
# The netlink generator takes and makes no other one.
spec='((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)'
check 'every file has a licence' all_say "GPL-2.0-only|$dual|$uapi|$spec" ''
check 'kmod is GPL-2.0-only' all_say "GPL-2.0-only|$spec" kmod/
check 'uapi may be used by user space' all_say "$dual|$uapi|$spec" uapi/
finish
