/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of a cache: 64 bit, per CPU, summed when read. */
#ifndef NEARCACHE_DM_STATUS_H
#define NEARCACHE_DM_STATUS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "nearcache_counters.h"

struct nc_cache;
struct nc_target;

/**
 * struct nc_stats - counters of one CPU
 * @clock_bytes: bytes read and not added to the policy's clock yet; next to the counters of
 *	hits, so that a hit writes one cache line
 * @unverified: hits since the last one that was compared with the origin
 * @untimed: hits since the last one that nearcache_latency reported
 * @count: counters of NEARCACHE_COUNTERS
 */
struct nc_stats {
	u64 clock_bytes;
	u32 unverified;
	u32 untimed;
	u64 count[NEARCACHE_COUNTER_COUNT];
};

#define nc_count_add(c, symbol, n) \
	this_cpu_add((c)->stats->count[NEARCACHE_COUNTER_##symbol], n)
#define nc_count(c, symbol)	nc_count_add(c, symbol, 1)

u64 nc_stats_sum(struct nc_cache *c, enum nearcache_counter counter);
u64 nc_stats_field(struct nc_target *t, enum nearcache_status_field which);
size_t nc_stats_print(struct nc_target *t, char *result, size_t room);

#endif /* NEARCACHE_DM_STATUS_H */
