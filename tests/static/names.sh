#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The name of a static function has a noun, so that an oops, perf and ftrace show more than a verb,
# and no two static functions of kmod have one name. Each option of the command has a bit of its own.
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
# Callbacks of struct target_type, at most 10: device-mapper names them.
CALLBACKS='ctr|dtr|map|resume|status|message'

# statics FOLDER: "name file" of each static function that is defined there.
statics() {
	find "$1" -name '*.[ch]' -print0 | xargs -0 awk '
		/^static / { head = "" }
		/^static / || head { head = head $0 " " }
		head && /^[^;{]*\)$/ || /^static .*\{/ { if (match(head, /[A-Za-z_0-9]+\(/))
			print substr(head, RSTART, RLENGTH - 1), FILENAME }
		/^[{}]/ || /;$/ || /^static .*[={]/ { head = "" }' | sort -u
}

nouns() {
	local bad
	bad=$(statics "$1" | grep -vE '^[^ ]*_' | grep -vE "^($CALLBACKS) kmod/dm/target.c$")
	echo "$1: $(statics "$1" | wc -l) static functions, $(grep -c . <<<"$bad") of one word"
	[[ -z $bad ]] || { echo "$bad"; return 1; }
}

unique() {
	local twice
	twice=$(statics kmod | grep -v ' .*\.h$' | cut -d ' ' -f 1 | sort | uniq -d)
	echo "kmod: $(grep -c . <<<"$twice") names stand twice"
	[[ -z $twice ]] || { echo "$twice"; return 1; }
}

# bits: fail with the lines of the options that share a bit.
bits() {
	local bit
	for bit in $(grep -oP '^#define OPTION_\w+\s.*<< \K[0-9]+' helper/cli/options.h | sort | uniq -d); do
		grep -E "<< $bit\)" helper/cli/options.h
	done | { ! grep .; }
}

check 'names of kmod have a noun' nouns kmod
check 'names of the helper have a noun' nouns helper
check 'names of kmod are unique' unique
check 'each option has a bit of its own' bits
finish
