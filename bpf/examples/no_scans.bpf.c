// SPDX-License-Identifier: GPL-2.0-only
/*
 * Example of a custom policy: a sequential scan, such as a backup, is not cached beyond its first
 * 64 MiB.
 *
 *   clang -target bpf -O2 -g -Iuapi -c bpf/examples/no_scans.bpf.c
 *   nearcache classifier load no_scans.bpf.o
 *
 * On Debian add -idirafter /usr/include/x86_64-linux-gnu to the options of clang.  "bpftool map
 * dump pinned /sys/fs/bpf/nearcache/classifier/scans" shows the length of each thread's scan.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "nearcache_classify.h"

char LICENSE[] SEC("license") = "GPL";

/* Bytes of the current run of each thread, by thread id. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} scans SEC(".maps");

SEC("raw_tp.w/nearcache_classify")
int no_scans(struct nearcache_classify **context)
{
	struct nearcache_classify *told = *context;
	__u32 thread = told->io.tid;
	__u64 *known = bpf_map_lookup_elem(&scans, &thread);
	__u64 bytes = told->bytes;

	/* If the thread has begun no run since its last event, its current run continues. */
	if (known && !told->runs)
		bytes += *known;
	bpf_map_update_elem(&scans, &thread, &bytes, BPF_ANY);
	if (told->io.op == 0 && bytes > 64 << 20) {
		told->class = NEARCACHE_CLASS_SEQUENTIAL;
		told->admission = NEARCACHE_ADMIT_NOT;
	}
	return 0;
}
