#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# CVE-2026-53061 of dm-cache: a table was loaded while the live table went on writing; at its resume
# it used the state of the time of loading. Here a table of each mode replaces one of each mode, and
# some loaded tables are dropped, under writers and readers that check their data.
# kernels: 6.12
# timeout: 240
# cpus: 1
# when: soak
. ./cache.sh

load_begin() {
	rm -f "$TMPDIR/stop"
	./stress run /dev/mapper/nc "$TMPDIR/model" -s 600 -t 3 -f "$TMPDIR/stop" >"$TMPDIR/log" 2>&1 &
	load=$!
}

load_end() {
	touch "$TMPDIR/stop"
	wait "$load" || fail "wrong: $(tail -n 5 "$TMPDIR/log")"
	load=''
}

load_kill() {
	touch "$TMPDIR/stop"
	[[ ! $load ]] || wait "$load"
}

# moved: has the live table done more writes, updates and fills since go_on, or the load ended?
moved() {
	! kill -0 "$load" 2>/dev/null ||
		(($(field writes) > writes + 10 && $(field fills) + $(field updates) > fills + 4))
}

go_on() {
	writes=$(field writes) fills=$(($(field fills) + $(field updates)))
	wait_for 30 moved || fail "no progress: $*"
	kill -0 "$load" 2>/dev/null || fail "$*: $(tail -n 5 "$TMPDIR/log")"
}

# preload MODE: load a table, and let the live table go on writing.
preload() {
	dmsetup load --noudevsync nc --table "$(MODE=$1 line)" || fail "load $1"
	go_on "$1 is loaded"
}

make_null O origin 12 completion_nsec=100000
make_null C local 4
./stress init "$O" "$TMPDIR/model" || fail "init"
format
MODE=writearound start
load=''
at_exit load_kill
for ((round = 0; round < $(times 1); round++)); do
	load_begin
	# Go from each writing mode to each; other tables are loaded and dropped in between.
	for to in writearound writethrough writethrough writearound; do
		# Load a table and clear it; load another, which the next load replaces.
		preload read-only
		dmsetup clear --noudevsync nc
		preload writethrough
		preload "$to"
		dmsetup suspend --noudevsync nc
		dmsetup resume --noudevsync nc || fail "resume"
		[[ $(dmsetup table nc) == *" $to "* ]] || fail "$(dmsetup table nc)"
		go_on "$to"
	done
	# To read-only mode and back: the read-only table saw no write.
	preload read-only
	load_end
	dmsetup resume --noudevsync nc
	is mode 0
	./stress verify /dev/mapper/nc "$TMPDIR/model" || fail "wrong in read-only mode"
	for to in writethrough writearound; do
		dmsetup load --noudevsync nc --table "$(MODE=$to line)" || fail "load $to"
		dmsetup resume --noudevsync nc || fail "resume"
		load_begin
		go_on "$to after read-only"
		preload read-only
		load_end
		dmsetup resume --noudevsync nc
		./stress verify /dev/mapper/nc "$TMPDIR/model" >/dev/null || fail "wrong after $to"
	done
	MODE=writearound reload || fail "reload"
done
settle
is state 0
stop
./stress verify "$O" "$TMPDIR/model" || fail "the origin differs from the data that was read"
start
./stress verify /dev/mapper/nc "$TMPDIR/model" || fail "wrong after the restart"
