#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Comments, messages, documents and manual pages are plain technical English: at most CEILING
# banned constructions per 1,000 words in each folder, and no Markdown line over 120 columns.
#   usage: prose.sh [FILE...]     with files: print each banned construction and its line
# The ceiling may only fall. timeout: 120
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC1091
[[ $# -gt 0 ]] || . "$TOP/tests/tap.sh"
cd "${TOP:-$(dirname "$(readlink -f "$0")")/../..}" || exit
CEILING=25

rates() {
	git ls-files -co --exclude-standard | PROSE_FILES="$*" python3 tests/static/prose.py "$CEILING"
}

[[ $# -eq 0 ]] || { rates "$@"; exit; }
check 'each folder stays below the ceiling' rates
finish
