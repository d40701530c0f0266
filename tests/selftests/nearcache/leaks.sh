#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No memory that was allocated during the tests of this boot is leaked. 'make check-debug' runs this
# test last; its runner noted when each test began and where its module was (guest/debug.sh).
# It finds repeated leaks but not each single leak, because a stale pointer anywhere in memory hides
# a leak. Tasks keep the addresses of the locks that they held last, which hides objects with locks.
# kernels: debug
# allow-log: kmemleak: [0-9]+ new suspected
. ./common.sh
KMEMLEAK=/sys/kernel/debug/kmemleak
NOTES=/run/selftest-debug

# explained: filter the reports on stdin: keep those younger than the first test, add the test's
# name, and name the functions of modules that are unloaded.
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
	echo scan >"$KMEMLEAK" || fail "kmemleak is off"
}

[[ -e $KMEMLEAK ]] || skip "no kmemleak"
[[ -s $NOTES/starts ]] || skip "the runner left no notes"
# Unload the module: objects that only its own data refer to are leaks from now on.
rmmod dm-nearcache || fail "rmmod"
# Do not scan stacks: old frames of idle workers hold pointers to freed objects.
echo stack=off >"$KMEMLEAK"
scan
# Scan twice: kmemleak reports objects that are 5 s old and did not change since the last scan.
sleep 5.5
scan
cat "$KMEMLEAK" >"$TMPDIR/reports"
echo "$(grep -c '^unreferenced' "$TMPDIR/reports") reports since the kernel started"
explained <"$TMPDIR/reports" >"$TMPDIR/leaks"
cat "$TMPDIR/leaks"
[[ ! -s $TMPDIR/leaks ]] || fail "$(grep -c '^during' "$TMPDIR/leaks") leaks of memory"
