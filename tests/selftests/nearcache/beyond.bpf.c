// SPDX-License-Identifier: GPL-2.0-only
/* Writes behind the end of this module's context, as if built for a newer one: must not load. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "nearcache_classify.h"

char LICENSE[] SEC("license") = "GPL";

struct later {
	struct nearcache_classify told;
	__u64 more;
};

SEC("raw_tp.w/nearcache_classify")
int beyond(struct later **context)
{
	(*context)->more = 1;
	return 0;
}
