// SPDX-License-Identifier: GPL-2.0-only
/* A program for a tracepoint that is not nearcache_classify: must be refused as a classifier. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("raw_tp.w/nearcache_access")
int elsewhere(void *context)
{
	(void)context;
	return 0;
}
