#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The order of a commit on several members: the module updates and flushes the later members before
# the first member writes the record that names the pages, and again after the record that ends the
# commit. So after any power cut the table names no block that a member does not hold.
# kernels: 6.12
# cpus: 1
. ./several.sh
TRACE=/sys/kernel/tracing

watch() {
	trace_events "$1" block/block_rq_issue block/block_rq_complete
}

make_null O origin 4
./blockdata write "$O"
several 4 4 4
format_several
start
ring=$(($(./sbset "$C" get 'area[1].offset') / 512))
check -n 4096
settle
# Wait for the first periodic commit.
committed() {
	(($(field commits) > 0))
}
wait_for 10 committed || fail "no commit"
at_exit watch 0
watch 1
# The next periodic commit is 4 s away.
check -s 4096 -n 4096
settle
echo >$TRACE/trace
dmsetup message nc 0 invalidate 0 8 || fail "invalidate"
watch 0
list=$(for device in "${members[@]}"; do number "$device"; done | tr ':\n' ', ')
sed -nE 's/.* block_rq_(issue|complete): ([0-9]+,[0-9]+) ([A-Z]+) .*\) ([0-9]+) \+ ([0-9]+) .*/\1 \2 \3 \4 \5/p' \
	$TRACE/trace | tee "$TMPDIR/events" |
	awk -v list="$(for device in "${members[@]}"; do echo "$(number "$device" | tr : ,)"; done | tr '\n' ' ')" -v ring="$ring" '
	BEGIN { n = split(list, device, " "); first = device[1] }
	# Superblock writes of the later members: preceded by a flush, and with FUA.
	$1 == "complete" && $2 != first && $4 < 2048 && $3 ~ /W/ { told[$2]++ }
	$1 == "issue" && $2 == first && $4 >= ring && $4 < ring + 128 && $3 ~ /W/ {
		records++
		for (i = 2; i <= n; i++)
			if (records == 1 && told[device[i]] != 1) {
				print device[i] " was updated " told[device[i]] + 0 " times before the record"
				bad = 1
			} else if (records == 2 && told[device[i]] != 1) {
				print device[i] " was updated " told[device[i]] + 0 " times before the end"
				bad = 1
			}
	}
	END {
		for (i = 2; i <= n; i++)
			if (told[device[i]] != 2) {
				print device[i] " was updated " told[device[i]] + 0 " times"
				bad = 1
			}
		if (records != 2) {
			print records + 0 " records"
			bad = 1
		}
		exit bad
	}' || fail "the order: $(<"$TMPDIR/events") of $list"
stop
