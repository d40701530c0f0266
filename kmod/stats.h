/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of a cache: 64 bit, per CPU, summed when somebody looks. */
#ifndef NEARCACHE_STATS_H
#define NEARCACHE_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "nearcache_counters.h"

struct nc_cache;

/**
 * struct nc_stats - one CPU's share
 * @count: counters of NEARCACHE_COUNTERS; a 64-bit add is not atomic on 32-bit
 *	machines, where a sum may be off while I/O runs
 * @clock_bytes: bytes read that were not yet added to the policy's clock
 */
struct nc_stats {
	u64 count[NEARCACHE_COUNTER_COUNT];
	u64 clock_bytes;
};

#define nc_count_add(c, symbol, n) \
	this_cpu_add((c)->stats->count[NEARCACHE_COUNTER_##symbol], n)
#define nc_count(c, symbol)	nc_count_add(c, symbol, 1)

size_t nc_stats_print(struct nc_cache *c, char *result, size_t room);

#endif /* NEARCACHE_STATS_H */
