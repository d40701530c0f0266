/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of a cache: 64 bit, per CPU, summed when they are read. */
#ifndef NEARCACHE_CORE_COUNTERS_H
#define NEARCACHE_CORE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "nearcache_counters.h"

/**
 * struct nc_counters - one CPU's counters of a cache
 * @clock_bytes: bytes read that were not yet added to the policy's clock; in the same cache line
 *	as the counters of hits, so that a hit writes one line
 * @unverified: hits since the last one that was compared with the origin, see nc_hot.verify
 * @untimed: hits while nearcache_latency is enabled; each NEARCACHE_TIMED-th hit is reported
 * @count: counters of NEARCACHE_COUNTERS
 */
struct nc_counters {
	u64 clock_bytes;
	u32 unverified;
	u32 untimed;
	u64 count[NEARCACHE_COUNTER_COUNT];
};

#define nc_count_add(c, symbol, n) \
	this_cpu_add((c)->hot.counters->count[NEARCACHE_COUNTER_##symbol], n)
#define nc_count(c, symbol)	nc_count_add(c, symbol, 1)

static inline u64 nc_counters_sum(struct nc_counters __percpu *counters,
				  enum nearcache_counter counter)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += READ_ONCE(per_cpu_ptr(counters, cpu)->count[counter]);
	return total;
}

#endif /* NEARCACHE_CORE_COUNTERS_H */
