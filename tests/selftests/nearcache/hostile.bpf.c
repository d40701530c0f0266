// SPDX-License-Identifier: GPL-2.0-only
/* A classifier that answers at random and overwrites all of its context: must do no harm. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "nearcache_classify.h"

char LICENSE[] SEC("license") = "GPL";

SEC("raw_tp.w/nearcache_classify")
int hostile(struct nearcache_classify **context)
{
	struct nearcache_classify *told = *context;

	told->class = bpf_get_prandom_u32();
	told->sample = bpf_get_prandom_u32();
	told->admission = bpf_get_prandom_u32() % 3;
	told->io.sector = ~0ULL;
	told->io.nr_sectors = ~0U;
	told->io.dev = bpf_get_prandom_u32();
	told->io.verdict = bpf_get_prandom_u32();
	told->io.label = ~0U;
	told->version = 0;
	told->why = ~0U;
	told->run = bpf_get_prandom_u32();
	told->before = 0;
	told->gap = -1;
	told->same_gaps = ~0U;
	told->accesses = 0;
	told->runs = ~0U;
	told->bytes = ~0ULL;
	told->hash = 0;
	told->length = bpf_get_prandom_u32() >> (bpf_get_prandom_u32() & 31);
	told->siblings = ~0U;
	told->window = bpf_get_prandom_u32() >> (bpf_get_prandom_u32() & 31);
	return 0;
}
