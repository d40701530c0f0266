// SPDX-License-Identifier: GPL-2.0-only
/* A classifier that admits no written data to the cache. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "nearcache_classify.h"

char LICENSE[] SEC("license") = "GPL";

SEC("raw_tp.w/nearcache_classify")
int refuse(struct nearcache_classify **context)
{
	struct nearcache_classify *told = *context;

	if (told->io.op)
		told->admission = NEARCACHE_ADMIT_NOT;
	return 0;
}
