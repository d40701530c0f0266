# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Report problems that a debug kernel has found during a test. Guest side; no effect elsewhere.
#
# /run/selftest-debug holds the input of nearcache/leaks.sh, which looks for leaked memory at the
# end of a boot: "starts" (lines "JIFFIES NUMBER NAME") and the module's symbols-NUMBER.
DEBUG_DIR=/run/selftest-debug
KMEMLEAK=/sys/kernel/debug/kmemleak

# debug_init: prevent scans in the middle of a test.
debug_init() {
	mkdir -p "$DEBUG_DIR"
	[[ ! -e $KMEMLEAK ]] || echo scan=off >"$KMEMLEAK"
}

# debug_starts NUMBER NAME: record that this test starts; the module is loaded.
debug_starts() {
	[[ -e $KMEMLEAK ]] || return 0
	echo "$(sed -n '/^jiffies: / { s///p; q }' /proc/timer_list) $1 $2" >>"$DEBUG_DIR/starts"
	grep -F '[dm_nearcache]' /proc/kallsyms | sort >"$DEBUG_DIR/symbols-$1"
}

# debug_ends: print a problem that the kernel has found, if any.
debug_ends() {
	[[ ! -e /proc/lockdep_stats ]] || grep -q 'debug_locks: *1$' /proc/lockdep_stats ||
		echo "the kernel looks at locks no more"
}
