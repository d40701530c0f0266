#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Users without privileges send requests in loops while a device is created, removed and reloaded. The
# requests must not lengthen the time in which the registry's mutex is taken: prints the longest time
# from the request for the mutex to its release, without and with these users.
# One processor, because the emulator has crashed the guest when one processor put a probe into
# mutex_lock() while another one was calling it.
# kernels: 6.12
# cpus: 1
# when: soak
. ./kprobes.sh
grep -q ' T mutex_lock$' /proc/kallsyms || skip "with lockdep mutex_lock() is no function"

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

make_second
lock=$(awk '$3 == "registry_lock" && $4 == "[dm_nearcache]" { print $1 }' /proc/kallsyms)
[[ $lock && ! $lock =~ ^0*$ ]] || fail "the address of the mutex is hidden"
echo 4096 >$TRACE/buffer_size_kb
for at in take:mutex_lock drop:mutex_unlock; do
	probe "p:nc_${at/:/ } lock=%di:u64"
	echo "lock == 0x$lock" >"$TRACE/events/kprobes/nc_${at%:*}/filter" || fail "no filter"
done
echo 1 >$TRACE/events/kprobes/enable
quiet=$(longest) || fail "the mutex was not taken"
for request in 'device-get name=nc' '-d device-get' 'plan-get name=nc'; do
	# shellcheck disable=SC2086 # words
	ask $request
done
busy=$(longest) || fail "the mutex was not taken"
asked
echo "registry's mutex: longest $quiet us, $busy us beside three users that send requests"
# A holder may lose its processor for some time slices.
((busy < quiet * 20 + 100000)) || fail "$busy us, without requests $quiet us"
