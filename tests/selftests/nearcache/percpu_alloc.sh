#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Management of a device must not allocate per-CPU memory where it may not wait for I/O (GFP_NOIO):
# older kernels then take only memory that is ready by chance, and a load fails although memory is
# free. A table that shares the live cache must allocate no hit sections.
# kernels: 6.12
# cpus: 1
. ./cache.sh
TRACE=/sys/kernel/tracing

# watched COMMAND...: run the command; its per-CPU allocations are in $TMPDIR/trace.
watched() {
	echo >$TRACE/trace
	echo 1 >$TRACE/events/percpu/percpu_alloc_percpu/enable
	"$@" >/dev/null || fail "$*"
	echo 0 >$TRACE/events/percpu/percpu_alloc_percpu/enable
	grep -E "^ *(dmsetup|genl)-.* percpu_alloc_percpu: " $TRACE/trace >"$TMPDIR/trace"
	! grep -v 'gfp_flags=GFP_KERNEL' "$TMPDIR/trace" || fail "$*: may not wait for I/O"
}

# hit_sections: print how many hit sections the last command allocated.
hit_sections() {
	grep -c 'call_site=nc_hit_srcu_init' "$TMPDIR/trace"
}

make_null O origin 16
make_null C local 24
format
dmsetup create nc --notable
at_exit dm_gone nc
watched dmsetup load nc --table "$(line)"
same "hit sections of a new cache" "$(hit_sections)" 1
watched dmsetup resume nc
watched dmsetup load nc --table "$(line '2 verify 3')"
same "hit sections of a reload" "$(hit_sections)" 0
watched dmsetup resume nc
watched ./genl range-add name=nc range=start=0,length=4096,label=a
watched ./genl job-submit name=nc range=start=0,length=4096
watched ./genl plan-submit name=nc range=start=0,length=65536 plan=commit=1
watched dmsetup message nc 0 invalidate all
watched dmsetup suspend nc
watched dmsetup remove nc
