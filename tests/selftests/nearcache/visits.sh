#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Requests that any user may send must not hold up management: they take no mutex of the module,
# neither the registry's, which a table load and a resume need, nor the plan's, which is held while a
# plan is built. A probe counts the calls of mutex_lock() by the module.
# kernels: 6.12
# cpus: 1
. ./kprobes.sh
grep -q ' T mutex_lock$' /proc/kallsyms || skip "with lockdep mutex_lock() is no function"

# functions: print the first and the last address of the module's functions.
functions() {
	awk '$4 == "[dm_nearcache]" && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms | sort | sed -n '1p;$p'
}

# taken COMMAND...: print how many mutexes the module takes in the process of the command.
taken() {
	echo >$TRACE/trace
	"$@" >/dev/null || fail "$*"
	grep -cE '^ *(genl|dmsetup)-.* nc_mutex: ' $TRACE/trace
}

fresh 4 12
{ read -r first && read -r last; } < <(functions)
[[ $last && ! $last =~ ^0*$ ]] || fail "the addresses of functions are hidden"
# On the stack is the address to which mutex_lock() returns.
# shellcheck disable=SC2016 # $stack0 is for the kernel
probe 'p:nc_mutex mutex_lock caller=$stack0:u64'
echo "caller >= 0x$first && caller < 0x$last" >$TRACE/events/kprobes/nc_mutex/filter
echo 1 >$TRACE/events/kprobes/enable

# Management takes mutexes, so the probe counts.
(($(taken dmsetup load nc --table "$(line '2 verify 3')"))) || fail "a load takes no mutex"
(($(taken dmsetup resume nc))) || fail "a resume takes no mutex"
(($(taken ./genl plan-submit name=nc range=start=0,length=65536 plan=commit=1))) ||
	fail "plan-submit does not take the plan's mutex"
for request in 'device-get name=nc' '-d device-get' 'plan-get name=nc'; do
	# shellcheck disable=SC2086 # words
	same "mutexes of $request" "$(taken ./genl -u 1000 $request)" 0
done
