/* SPDX-License-Identifier: GPL-2.0-only */
/* Pace of the readers of a plan: how far ahead of them the plan's data must be requested. */
#ifndef NEARCACHE_PREFETCH_PLAN_PACE_H
#define NEARCACHE_PREFETCH_PLAN_PACE_H

#include <linux/types.h>

/**
 * struct nc_plan_pace - how fast readers advance
 * @since: start of the present measurement, ktime in ns; 0: none
 * @front: nc_plan_cursor.front at that time
 * @best: highest rate of a measurement since @turned, visits per second
 * @older: the same for the previous interval
 * @turned: start of the present interval, ktime in ns
 *
 * The caller serialises all access.
 */
struct nc_plan_pace {
	u64 since;
	u32 front;
	u64 best;
	u64 older;
	u64 turned;
};

void nc_plan_pace_see(struct nc_plan_pace *pace, u64 now, u32 front);
u32 nc_plan_pace_ahead(const struct nc_plan_pace *pace, u64 latency);

#endif /* NEARCACHE_PREFETCH_PLAN_PACE_H */
