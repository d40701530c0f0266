#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Users without privileges send requests in loops while a device is created, removed and reloaded. The
# requests must not lengthen the time in which the registry's mutex is taken: prints the longest time
# from the request for the mutex to its release, without and with these users.
# kernels: 6.12
. ./cache.sh
TRACE=/sys/kernel/tracing
grep -q ' T mutex_lock$' /proc/kallsyms || skip "with lockdep mutex_lock() is no function"

no_probes() {
	echo 0 >$TRACE/events/kprobes/enable
	echo >$TRACE/kprobe_events
}

# longest: create and remove a device, reload another; print the longest time in us.
longest() {
	local i
	echo >$TRACE/trace
	for i in 1 2 3; do
		./dmcycle nc2 5 "$size" "$type" "$words" >&2 || return 1
		reload "2 verify $i" || return 1
	done
	awk '$5 == "nc_take:" { taken[$1] = $4 + 0 }
		$5 == "nc_drop:" && $1 in taken {
			us = ($4 - taken[$1]) * 1000000
			longest = us > longest ? us : longest
			delete taken[$1]
			count++
		}
		END { if (count < 30) exit 1; printf "%d\n", longest }' $TRACE/trace || return 1
}

# asking WORDS...: send the request as user 1000 until $TMPDIR/enough exists.
asking() {
	while [[ ! -e $TMPDIR/enough ]]; do
		./genl -u 1000 "$@" >/dev/null || return 1
	done
}

make_null O2 second 8
make_null C2 other 12
fresh 4 12
format "$C2" "$O2"
read -r _ size type words <<<"$(line '' "$O2" "$C2")"
lock=$(awk '$3 == "registry_lock" && $4 == "[dm_nearcache]" { print $1 }' /proc/kallsyms)
[[ $lock && ! $lock =~ ^0*$ ]] || fail "the address of the mutex is hidden"
at_exit no_probes
echo 4096 >$TRACE/buffer_size_kb
echo "p:nc_take mutex_lock lock=%di:u64" >$TRACE/kprobe_events || fail "no probe"
echo "p:nc_drop mutex_unlock lock=%di:u64" >>$TRACE/kprobe_events || fail "no probe"
for probe in take drop; do
	echo "lock == 0x$lock" >$TRACE/events/kprobes/nc_$probe/filter || fail "no filter"
done
echo 1 >$TRACE/events/kprobes/enable
quiet=$(longest) || fail "the mutex was not taken"
for request in 'device-get name=nc' '-d device-get' 'plan-get name=nc'; do
	# shellcheck disable=SC2086 # words
	asking $request &
	pids+=($!)
done
busy=$(longest) || fail "the mutex was not taken"
touch "$TMPDIR/enough"
for pid in "${pids[@]}"; do
	wait "$pid" || fail "a request was not answered"
done
echo "registry's mutex: longest $quiet us, $busy us beside three users that send requests"
# A holder may lose its processor for some time slices.
((busy < quiet * 20 + 100000)) || fail "$busy us, without requests $quiet us"
