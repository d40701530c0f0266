#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The documents agree with the tree: links lead to files, nearcache.rst has all status fields in
# order, and the README stays short.
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

check 'links of the documents lead to files' links
check 'nearcache.rst has the fields of the status line in order' status_fields
check 'the README has at most 120 lines' short_readme
finish
