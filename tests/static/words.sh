#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Help, manual pages, completion, the netlink interface and JSON use the same words.
# timeout: 240
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
export LC_ALL=C
dir=$BUILD/static/words
rm -rf "$dir"
mkdir -p "$dir"
unset MAKEFLAGS MFLAGS MAKELEVEL
make -s --no-print-directory "BUILD=$BUILD" install-helper "DESTDIR=$dir/root" PREFIX=/usr >"$dir/log" ||
	{ cat "$dir/log"; exit 1; }
nearcache=$dir/root/usr/sbin/nearcache
share=$dir/root/usr/share
pages=$share/man/man8
page=$pages/nearcache.8
bash_script=$share/bash-completion/completions/nearcache
zsh_script=$share/zsh/site-functions/_nearcache
mapfile -t verbs < <("$nearcache" --help | sed -n '/^Verbs/,/^$/s/^  \([a-z]*\) .*/\1/p')

# options_of HELP: print "--option OPERAND" of each option.
options_of() {
	sed -nE 's/^  (-.,|   ) (--[a-z-]+)( [A-Z][A-Z:|]*)? .*/\2\3/p' "$1"
}

# The same with short names: "-n, --option OPERAND".
letters_of() {
	sed -nE 's/^  (-., |    )(--[a-z-]+)( [A-Z][A-Z:|]*)? .*/\1\2\3/p' "$1" | sed 's/^ *//'
}

# same WHAT EXPECTED ACTUAL
same() {
	cat "$2" >"$dir/expected"
	[[ -s $dir/expected ]] || { echo "nothing is expected of $1"; return 1; }
	diff -u "$dir/expected" "$3" >"$dir/diff" || { echo "$1:"; sed 1,2d "$dir/diff"; return 1; }
}

# The help texts, fetched once: VERB --option OPERAND.
"$nearcache" --help >"$dir/help"
options_of "$dir/help" | sort >"$dir/globals"
for verb in "${verbs[@]}"; do
	"$nearcache" "$verb" --help >"$dir/help.$verb"
	options_of "$dir/help.$verb" | sed "s/^/$verb /"
done | sort >"$dir/options"
grep -vwFf "$dir/globals" "$dir/options" >"$dir/own"
letters_of "$dir/help" | sort >"$dir/globals.letters"
for verb in "${verbs[@]}"; do
	letters_of "$dir/help.$verb" | grep -vxFf "$dir/globals.letters" | sed "s/^/$verb /"
done | sort >"$dir/own.letters"

# page_tags PAGE: print "SECTION TAG" of each item in the rendered manual page.
page_tags() {
	sed -E 's/\\f.//g; s/\\([- ])/\1/g; s/\\\(ha/^/g' "$1" | awk '
	/^\.SH / { title = $2; for (i = 3; i <= NF; i++) title = title "_" $i }
	tag { sub(/^\.B /, ""); print title "\t" $0 }
	{ tag = /^\.TP/ }'
}

# in_page PAGE SECTION: print the tags there.
in_page() {
	page_tags "$pages/$1.8" | awk -F '\t' -v where="$2" '$1 == where { print $2 }'
}

page_version() {
	grep -q "^\.TH NEARCACHE 8 .*\"$("$nearcache" --version | sed 's/ (.*//')\"" "$page"
}

# The overview lists the verbs in their groups, with the text of the help.
page_verbs() {
	sed -E 's/\\f.//g; s/\\-/-/g' "$page" | awk '
	/^\.SS / { group = tolower($2); next }
	/^\.SH / { inside = /VERBS/ }
	inside && verb { print "  " verb " " $0; verb = "" }
	inside && /^nearcache-[a-z]+\(8\)$/ { if (group) print group; group = ""; verb = $0; gsub(/^nearcache-|\(8\)$/, "", verb) }' >"$dir/page.verbs"
	sed -n '/^Verbs/,/^$/{s/^ \([a-z]\)/\1/p; s/^  \([a-z]*\)  */  \1 /p}' "$dir/help" >"$dir/groups"
	same 'verbs in their groups' "$dir/groups" "$dir/page.verbs"
}

# Each verb has a page, each page a verb, and its name and text are those of the help.
page_names() {
	local verb
	for verb in "${verbs[@]}"; do
		echo "nearcache-$verb - $(sed -nE "/^Verbs/,/^$/s/^  $verb +//p" "$dir/help")"
	done | sort >"$dir/names"
	for file in "$pages"/nearcache-*.8; do
		sed 's/\\-/-/g' "$file" | awk -v name="${file##*/}" '
		/^\.TH / && $2 ".8" != toupper(name) ".8" && tolower($2) ".8" != name { print name ": " $0 }
		name_next { print }
		{ name_next = /^\.SH NAME/ }'
	done | sort >"$dir/page.names"
	same 'pages of verbs' "$dir/names" "$dir/page.names"
}

# The last line of the help names the page.
page_named() {
	local verb
	[[ $(tail -n 1 "$dir/help") == 'Manual pages: man nearcache, man nearcache-VERB' ]] || { tail -n 1 "$dir/help"; return 1; }
	for verb in "${verbs[@]}"; do
		[[ $(tail -n 1 "$dir/help.$verb") == "Manual page: man nearcache-$verb" ]] || { echo "$verb"; return 1; }
	done
}

# Sections that each page of a verb has, in this order; others may stand between them.
page_sections() {
	local verb
	for verb in "${verbs[@]}"; do
		if grep -q "^$verb " "$dir/own"; then
			echo "$verb NAME SYNOPSIS DESCRIPTION OPTIONS PRIVILEGES EXAMPLES SEE_ALSO"
		else
			echo "$verb NAME SYNOPSIS DESCRIPTION PRIVILEGES EXAMPLES SEE_ALSO"
		fi
	done >"$dir/sections"
	for verb in "${verbs[@]}"; do
		sed -nE 's/^\.SH (NAME|SYNOPSIS|DESCRIPTION|OPTIONS|PRIVILEGES|EXAMPLES|SEE ALSO)$/\1/p' "$pages/nearcache-$verb.8" |
			tr ' ' _ | paste -sd ' ' | sed "s/^/$verb /"
	done >"$dir/page.sections"
	same sections "$dir/sections" "$dir/page.sections"
}

# commands PAGE: print each command line of its examples, as typed.
commands() {
	sed -nE '/^\.SH EXAMPLES/,/^\.SH SEE/{/^\.EX/,/^\.EE/p}' "$1" |
		sed -E '/^\./d; s/\\f.//g; s/\\([- ])/\1/g; s/\\\(aq/'"'"'/g' | sed -e ':more' -e '/\\e$/{N; s/\\e\n *//; b more' -e '}' |
		sed -nE 's/^[#$] //p' | sed -E 's/ (&&|\||;) /\n/g; s/[;&]$//; s/; /\n/g'
}

# The command accepts the words of the examples, and each page has an example of its verb.
examples() {
	local file verb line words word option wrong=0
	local -A takes=()
	while read -r verb option _; do
		takes[$verb $option]=1
	done <"$dir/options"
	for file in "$pages"/nearcache*.8; do
		commands "$file" | grep '^nearcache ' >"$dir/commands"
		verb=${file##*/nearcache}
		verb=${verb%.8}
		grep -q "^nearcache ${verb#-}" "$dir/commands" || { echo "${file##*/} has no example of its verb"; wrong=1; }
		while read -r line; do
			# No shell runs these words: there are no variables in them.
			eval "words=(${line#nearcache })"
			for word in "${words[@]}"; do
				[[ $word != --* || ${takes[${words[0]} ${word%%=*}]:-} ]] || { echo "${file##*/}: $line: no option $word"; wrong=1; }
			done
			"$nearcache" "${words[@]}" --help >/dev/null || { echo "${file##*/}: $line"; wrong=1; }
		done <"$dir/commands"
	done
	return "$wrong"
}

# Each option that a page mentions is one of nearcache, or of the other command that the line names.
mentioned() {
	awk '{ print $2 }' "$dir/options" | sort -u >"$dir/all"
	! sed -E 's/\\f.//g; s/\\-/-/g' "$pages"/nearcache*.8 "$share"/man/man7/nearcache.7 |
		grep -vE '(blockdev|systemctl|journalctl|bpftool) ' | grep -oE '(^|[^a-z-])--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u | grep -vxFf "$dir/all"
}

# With short names: "VERB -n, --name OPERAND".
page_options() {
	local verb
	for verb in "${verbs[@]}"; do
		in_page "nearcache-$verb" OPTIONS | sed "s/^/$verb /"
	done | sort >"$dir/page.options"
	same 'options of verbs' "$dir/own.letters" "$dir/page.options" || return
	in_page nearcache OPTIONS_OF_ALL_VERBS | sort >"$dir/page.globals"
	same 'options of all verbs' "$dir/globals.letters" "$dir/page.globals"
}

# The synopsis of each verb lists its operands and its options.
page_synopsis() {
	local verb
	for verb in "${verbs[@]}"; do
		sed -E 's/\\f.//g; s/\\([- ])/\1/g' "$pages/nearcache-$verb.8" | awk -v verb="$verb" '
		/^\./ { synopsis = /^\.SH SYNOPSIS/; next }
		synopsis && /^nearcache / { print > operands; next }
		synopsis { gsub(/[][]/, ""); print verb, $0 }' operands="$dir/page.usage.$verb"
	done | sort >"$dir/page.synopsis"
	same 'options in synopses' "$dir/own" "$dir/page.synopsis" || return
	for verb in "${verbs[@]}"; do
		sed -nE '1s/^Usage: //; 1s/ \[?--.*//; 1p' "$dir/help.$verb"
	done | sort >"$dir/usages"
	sort "${verbs[@]/#/$dir/page.usage.}" >"$dir/page.usages"
	same 'operands in synopses' "$dir/usages" "$dir/page.usages"
}

page_codes() {
	sed -n '/^Exit codes:/,$s/^  \([0-9]\)  .*/\1/p' "$dir/help" >"$dir/codes"
	in_page nearcache EXIT_STATUS >"$dir/page.codes"
	same 'exit codes' "$dir/codes" "$dir/page.codes" || return
	same 'exit codes' <(sed -nE '/CODE_COUNT/d; s/^\tCODE_[A-Z]+\t*= ([0-9]),/\1/p' helper/lib/error.h) "$dir/codes"
}

# counters NAME: print "name (unit)" of each row of that table.
counters() {
	sed -n "/define $1(X)/,/^\$/p" uapi/nearcache_counters.h |
		sed -nE 's/^\tX\([A-Z0-9_]+, "([a-z0-9_]+)", "([a-z-]*)".*/\1 (\2)/p' | sed 's/ ()$//'
}

page_counters() {
	same values <(counters NEARCACHE_STATUS_FIELDS) <(in_page nearcache-stats VALUES) &&
		same counters <(counters NEARCACHE_COUNTERS) <(in_page nearcache-stats COUNTERS)
}

# rows: print "name (unit)<tab>help" of each status field and counter, and "word NAME WORD" of each
# enumeration, as the command prints them.
rows() {
	cat >"$dir/rows.c" <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include "block/status_line.h"
		static void put(const struct status_row *row)
		{
			printf(*row->unit ? "%s (%s)\t%s\n" : "%s%s\t%s\n", row->name, row->unit, row->help);
		}
		int main(void)
		{
			unsigned int i, value;
			const char *word;
			for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++) {
				put(&status_field_row[i]);
				for (value = 0; (word = status_word(i, value)) && strcmp(word, "unknown"); value++)
					printf("word %s (enum) %s\n", status_field_row[i].name, word);
			}
			for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
				put(&status_counter_row[i]);
			return 0;
		}
	END
	cc -iquote helper -iquote bpf -Iuapi -o "$dir/rows" "$dir/rows.c" helper/block/status_line.c helper/lib/enum_words.c &&
		"$dir/rows" >"$dir/rows.out"
}

# Texts of values and counters are those of the one table.
page_rows() {
	rows || return
	sed -E 's/\\f.//g; s/\\\(aq/'"'"'/g; s/\\([- ])/\1/g' "$pages/nearcache-stats.8" | awk '
	/^\.SH / { inside = /^\.SH (VALUES|COUNTERS)/ }
	text && inside { print name "\t" $0 }
	text = tag { name = $0 }
	{ tag = /^\.TP/ }' >"$dir/page.rows"
	same texts <(grep -v '^word ' "$dir/rows.out") "$dir/page.rows"
}

# The words of enumerations in the netlink spec, the manual page and the command are the same.
enum_words() {
	local field
	sed -E 's/\\f.//g; s/\\([- ])/\1/g' "$pages/nearcache-stats.8" | awk '
	tag { name = $1 }
	{ tag = /^\.TP/ }
	/^\./ { words = 0 }
	words { sub(/,$/, ""); print name, $0 }
	/^Words:$/ { words = 1 }' >"$dir/page.words"
	for field in $(counters NEARCACHE_STATUS_FIELDS | sed -n 's/ (enum)$//p'); do
		python3 - "$field" <<-'END'
			import sys, yaml
			spec = yaml.safe_load(open("uapi/nearcache.yaml"))
			for row in spec["definitions"]:
			    if row["type"] == "enum" and row["name"] == sys.argv[1]:
			        print(*(f"{row['name']} {entry['name']}" for entry in row["entries"]), sep="\n")
		END
	done >"$dir/enums"
	same 'words of enumerations' "$dir/enums" "$dir/page.words" &&
		same 'words that the command prints' "$dir/enums" \
			<(sed -nE 's/^word ([a-z_]+) \(enum\) /\1 /p' "$dir/rows.out")
}

# An option has one meaning: the same operand in all verbs. --cluster is the cluster of a file, or all nodes.
one_meaning() {
	! cut -d ' ' -f 2- "$dir/options" | sort -u | grep -v '^--cluster' | awk '{ print $1 }' | uniq -d | grep . &&
		! grep -oE -- '--[a-z-]*sample[a-z-]*' "$dir/options" | grep -vxE -- '--samples|--sample-size'
}

# A setting has the name of its option, with underscores.
setting_options() {
	sed -nE 's/^  ([a-z_]+)=.*/\1/p' "$dir/help.set" | grep -vx read_ahead | sed 's/^/--/; s/_/-/g' | sort >"$dir/named"
	same 'options of the settings' "$dir/named" <(grep -xFf "$dir/named" <(awk '$1 == "open" { print $2 }' "$dir/options") | sort)
}

# Help, error message and manual page list the same settings.
settings() {
	sed -nE 's/^  ([a-z_-]+)=.*/\1/p' "$dir/help.set" | tr _ - | sort >"$dir/settings"
	"$nearcache" set x '?=1' 2>&1 | sed 's/.*it can be //; s/, \| or /\n/g' | tr _ - | sort >"$dir/settings.said"
	in_page nearcache-set DESCRIPTION | sed -nE 's/^([a-z_-]+)=.*/\1/p' | tr _ - | sort >"$dir/settings.page"
	same settings "$dir/settings" "$dir/settings.said" && same settings "$dir/settings" "$dir/settings.page"
}

# An option of 'open' that the table refuses because it belongs to the command line.
only_command_line() {
	local generator=$dir/root/usr/lib/systemd/system-generators/nearcache-generator
	mkdir -p "$dir/units"
	echo "x /dev/o /dev/c $1" >"$dir/tab"
	"$generator" "$dir/units" "$dir/units" "$dir/units" "$dir/tab" 2>&1 |
		grep -qE 'are allowed only on the command line|the second and the third word name'
}

table_options() {
	local option operand
	while read -r _ option operand; do
		only_command_line "${option#--}${operand:+=1}" || echo "${option#--}${operand:+=$operand}"
	done < <(grep '^open ' "$dir/own") | sort >"$dir/table"
	sed -E 's/\\f.//g; s/\\-/-/g' "$share/man/man5/nearcachetab.5" |
		sed -nE '/^The following options are/,/^Other options exist/s/^\.BR ([a-z-]+(=[A-Z]+)?) ?[.,]$/\1/p' | sort >"$dir/table.page"
	same 'options of the table' "$dir/table" "$dir/table.page"
}

# lint PAGE: mandoc and groff report nothing, no line is over 78 columns on a terminal with 80, and no line
# breaks the name of an option.
lint() {
	mandoc -T lint -W warning "$1" && groff -man -ww -T ascii -rLL=78n -P-cbou "$1" >"$dir/rendered" 2>"$dir/groff" &&
		[[ ! -s $dir/groff ]] || { cat "$dir/groff"; return 1; }
	! grep -nE '.{79}|--[a-z-]+-$' "$dir/rendered"
}

# man finds the name and the text of each page.
named() {
	! command -v lexgrog >/dev/null || lexgrog "$share"/man/man*/* >"$dir/lexgrog" || { grep -v '": "' "$dir/lexgrog"; return 1; }
}

# Fake devices, jobs, labels and a table for the completion to find, and files in its folder.
completing() {
	local folder=$dir/$1 i
	mkdir -p "$folder/sys/class/block"/dm-{0,1,2,3}/dm
	touch "$folder/one.tar" "$folder/two.tar" "$folder/blank in it"
	for i in 0:nearcache-1:demo 1:LVM-x:other 2:nearcache-passthrough-a:a:b=c; do
		cut -d: -f2 <<<"$i" >"$folder/sys/class/block/dm-${i%%:*}/dm/uuid"
		cut -d: -f3- <<<"$i" >"$folder/sys/class/block/dm-${i%%:*}/dm/name"
	done
	printf '%s\n' '# NAME ORIGIN CACHE' 'later /dev/o /dev/c' >"$folder/nearcachetab"
	printf '%s\n' '#!/bin/sh' 'cat <<END' '{ "schema": 1, "name": "$2 $1",' \
		' "job": 7,' ' "state": "done",' ' "label": "$2.a",' ' "job": 12,' ' "state": "running",' ' "label": "val"' \
		END >"$folder/asked"
	chmod +x "$folder/asked"
	printf '_nearcache_%s=%s\n' sysfs "$folder/sys" tab "$folder/nearcachetab" command "$folder/asked" >"$folder/setup"
	# zsh loads the script by its file name.
	[[ $1 != zsh ]] || cp "$zsh_script" "$folder/"
	python3 tests/static/complete.py "$1" "$bash_script" "$folder"
}

# completions SHELL LINE...: print "LINE|WORDS", the sorted completions of each line.
completions() {
	printf '%s\n' "${@:2}" | completing "$1" >"$dir/$1.out" || { cat "$dir/$1.out"; return 1; }
	paste -d '|' <(printf '%s\n' "${@:2}") "$dir/$1.out" | python3 -c '
import sys
for row in sys.stdin:
    line, all = row.rstrip("\n").split("|", 1)
    stem = line[:line.rfind(" ") + 1]
    words = all[len(stem):].replace("\\ ", "_").split()
    typed = line[len(stem):]
    option = typed[:typed.find("=") + 1]
    words = {w[len(option):] if option and w.startswith(option) else w for w in words}
    print(line, *sorted(w.rstrip("=") for w in words - {typed, ""}), sep="|")'
}

all_options() {
	local lines=() verb
	for verb in "${verbs[@]}"; do
		lines+=("nearcache $verb --")
		awk -v verb="$verb" '$1 == verb { print $2 }' "$dir/options" | sort | paste -sd '|' |
			sed "s/^/nearcache $verb --|/"
	done >"$dir/options.expected"
	completions "$1" "${lines[@]}" >"$dir/options.$1"
	same options "$dir/options.expected" "$dir/options.$1"
}

# The completion offers the values that the error message names, files for paths, and nothing
# otherwise.
all_values() {
	local verb option operand lines given
	while read -r verb option operand; do
		[[ $operand ]] || continue
		given=$("$nearcache" "$verb" "$option" '?' --help 2>&1 |
			sed -nE 's/.*: give ([a-z0-9-]+(, [a-z0-9-]+)* or [a-z0-9-]+)$/\1/p' | sed 's/, \| or /|/g' |
			tr '|' '\n' | sort | paste -sd '|')
		if [[ $operand =~ ^(DEV|FILE|DIR)$ ]]; then
			echo "nearcache $verb $option=o|one.tar"
		else
			echo "nearcache $verb $option=${given:+|$given}"
		fi
	done <"$dir/own" >"$dir/values.expected"
	mapfile -t lines < <(cut -d '|' -f1 "$dir/values.expected")
	completions "$1" "${lines[@]}" >"$dir/values.$1"
	same values "$dir/values.expected" "$dir/values.$1"
}

# The texts that zsh shows beside verbs and options are those of the help.
zsh_texts() {
	sed -nE "s/^\t\t'([a-z]+:.*)'$/\1/p" "$zsh_script" | sed "s/'\\\\''/'/g" | sort >"$dir/zsh.verbs"
	same 'texts of verbs' <(sed -n '/^Verbs/,/^$/s/^  \([a-z]*\)  */\1:/p' "$dir/help" | sort) "$dir/zsh.verbs" || return
	sed -nE "/\[.*\]/s/.*(--[a-z-]+)[=}]*'?\[(.*)\].*/\1 \2/p" "$zsh_script" |
		sed "s/'\\\\''/'/g; s/\\\\:/:/g" | sort -u >"$dir/zsh.options"
	sed -nE 's/^  (-.,|   ) (--[a-z-]+)( [A-Z][A-Z:|]*)?  *(.*)/\2 \4/p' "$dir"/help.* "$dir/help" | sort -u >"$dir/help.texts"
	same 'texts of options' "$dir/help.texts" "$dir/zsh.options"
}

# line to complete | completions
cases() {
	local globals='--dry-run|--help|--json|--version|-V|-h|-j'
	cat <<-END
		nearcache |$(printf '%s\n' "${verbs[@]}" | sort | paste -sd '|')
		nearcache -j stat|stats|status
		nearcache status |a:b=c|demo
		nearcache status demo a:b|a:b=c
		nearcache close a:b=|c
		nearcache close demo |$(tr ' ' '\n' <<<"--all --abandon-stage --keep ${globals//|/ }" | sort | paste -sd '|')
		nearcache create 
		nearcache open |later
		nearcache open later --mode write|writearound|writeback|writethrough
		nearcache index o|one.tar
		nearcache index --format tar t|two.tar
		nearcache residency demo b|blank_in_it
		nearcache index --summary -- o|one.tar
		nearcache set demo |$(tr - _ <"$dir/settings" | paste -sd '|')
		nearcache set demo mode=|$("$nearcache" set demo mode='?' 2>&1 | sed 's/.*: give //; s/, \| or /|/g')
		nearcache set demo verify=
		nearcache set demo mode=read-only fill|fill_memory
		nearcache get demo |$(tr - _ <"$dir/settings" | paste -sd '|')
		nearcache get nosuch --j|--json
		nearcache cancel demo |12
		nearcache cancel |a:b=c|demo
		nearcache cancel demo 12 1|12
		nearcache unpin demo --label |demo.a|val
		nearcache unpin demo --label=v|val
		nearcache frobnicate |$globals
		nearcache help stat|stats|status
	END
}

some_cases() {
	local lines
	mapfile -t lines < <(cases | cut -d '|' -f1)
	completions "$1" "${lines[@]}" >"$dir/cases.$1"
	same completions <(cases) "$dir/cases.$1"
}

check 'version of the manual page' page_version
check 'verbs of the manual page' page_verbs
check 'one page for each verb' page_names
check 'the help names the page' page_named
check 'sections of the pages' page_sections
check 'options of the pages' page_options
check 'synopses of the pages' page_synopsis
check 'examples of the pages' examples
check 'options that the pages mention' mentioned
check 'exit codes' page_codes
check 'values and counters' page_counters
check 'texts of values and counters' page_rows
check 'words of enumerations are those of netlink' enum_words
check 'settings' settings
check 'an option has one meaning' one_meaning
check 'settings have the names of options' setting_options
check 'options of the table' table_options
check 'names of the pages' named
for file in "$share"/man/man*/*; do
	check "${file##*/} is well formed" lint "$file"
done
check 'bash reads the completion' bash -n "$bash_script"
check 'zsh reads the completion' zsh -n "$zsh_script"
check 'texts of the completion' zsh_texts
for shell in bash zsh; do
	check "$shell completes all options" all_options "$shell"
	check "$shell completes their values" all_values "$shell"
	check "$shell completes words" some_cases "$shell"
done
finish
