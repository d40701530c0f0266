#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The documents agree with the tree: links lead to files, nearcache.rst has all status fields in
# order, MAINTAINERS has all files, the version is the same everywhere, and the README stays short.
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
export LC_ALL=C

# pages: all Markdown pages of the tree.
pages() {
	find . -name '*.md' -not -path './build/*' -not -path './.git/*'
}

# links: fail if a relative link leads nowhere; links to the network are not checked.
links() {
	local page target wrong=0
	while IFS=: read -r page target; do
		[[ -e $(dirname "$page")/$target ]] || { echo "$page: no file $target"; wrong=1; }
	done < <(pages | xargs grep -oHE '\]\([^)#: ]+' | sed 's/:](/:/')
	return "$wrong"
}

status_fields() {
	diff -u <(sed -nE 's/^\tX\([A-Z0-9_]+, "([a-z0-9_]+)".*/\1/p' uapi/nearcache_counters.h |
		awk 'NR > 1 && $0 == "hits" && ++hits == 2 { exit } { print }') \
		<(sed -nE 's/^ [0-9]+ +([a-z0-9_]+) .*/\1/p' kmod/doc/nearcache.rst)
}

short_readme() {
	(($(wc -l <README.md) <= 120)) || { echo "README.md has more than 120 lines"; return 1; }
}

# maintained: fail if a file has no section in MAINTAINERS, or MAINTAINERS names a missing file.
maintained() {
	local kind name patterns=() wrong=0
	while read -r kind name; do
		[[ -e $name ]] || { echo "MAINTAINERS: no file $name"; wrong=1; }
		[[ $kind == W: ]] || patterns+=(-e "^$(sed 's/[.]/\\./g; s,[^/]$,&$,' <<<"$name")")
	done < <(grep '^[FW]:' MAINTAINERS)
	! git ls-files -co --exclude-standard | grep -v "${patterns[@]}" && ((!wrong))
}

# same_version: the documents name the version of the file VERSION.
same_version() {
	local version
	version=$(<VERSION)
	grep -q "^\.TH NEARCACHE 8 [^ ]* \"nearcache $version\" " helper/man/nearcache.8 || { echo nearcache.8; return 1; }
	grep -q "^Version $version " README.md || { echo README.md; return 1; }
	[[ $(grep -m 1 '^## ' kmod/doc/changelog.md) == "## Version $version"* ]] || { echo changelog.md; return 1; }
}

check 'links of the documents lead to files' links
check 'nearcache.rst has the fields of the status line in order' status_fields
check 'MAINTAINERS has all files' maintained
check 'the documents have the version of VERSION' same_version
check 'the README has at most 120 lines' short_readme
finish
