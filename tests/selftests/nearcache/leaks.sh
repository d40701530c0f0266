#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nothing that was allocated during the tests of this boot is lost. The runner of 'make
# check-debug' calls this one last, and has noted when each test began, and where its
# module was (guest/debug.sh).
# It sees what leaks each time, not each piece: a stale pointer anywhere hides one. Tasks
# keep the addresses of the locks they held last, so what holds locks is hidden for long.
# kernels: debug
# allow-log: kmemleak: [0-9]+ new suspected
. ./common.sh
KMEMLEAK=/sys/kernel/debug/kmemleak
NOTES=/run/selftest-debug

# explained: reports on stdin that are younger than the first test, with the name of
# their test, and of the functions of a module that is gone.
explained() {
	awk -v dir="$NOTES" '
	function symbols(number,	file, line, word) {
		count = 0
		file = dir "/symbols-" number
		while ((getline line <file) > 0) {
			split(line, word, " ")
			address[++count] = "0x" word[1]
			name[count] = word[3]
		}
		close(file)
	}
	BEGIN {
		while ((getline line <(dir "/starts")) > 0) {
			split(line, word, " ")
			starts[++tests] = word[1]
			number[tests] = word[2]
			title[tests] = word[3]
		}
	}
	/^unreferenced/ { head = $0; next }
	/^  comm / {
		for (i = tests; i && starts[i] > $NF + 0; i--)
			;
		if ((wanted = i)) {
			symbols(number[i])
			print "during " title[i] ": " head
		}
	}
	/^    0x[0-9a-f]+$/ {
		for (i = count; i && address[i] > $1 ""; i--)
			;
		if (i)
			$0 = "    " name[i] " [dm_nearcache] " $1
	}
	wanted { print }'
}

scan() {
	echo scan >"$KMEMLEAK" || fail "the kernel looks for leaks no more"
}

[[ -e $KMEMLEAK ]] || skip "the kernel does not look for leaks"
[[ -s $NOTES/starts ]] || skip "nothing was noted"
# What only its own data refer to is lost with it.
rmmod dm-nearcache || fail "rmmod"
# Old stack frames of idle workers hold pointers to what was used last.
echo stack=off >"$KMEMLEAK"
scan
# So old is what is reported, and it has not changed since the last scan.
sleep 5.5
scan
cat "$KMEMLEAK" >"$TMPDIR/reports"
echo "$(grep -c '^unreferenced' "$TMPDIR/reports") reports since the kernel started"
explained <"$TMPDIR/reports" >"$TMPDIR/leaks"
cat "$TMPDIR/leaks"
[[ ! -s $TMPDIR/leaks ]] || fail "$(grep -c '^during' "$TMPDIR/leaks") leaks of memory"
