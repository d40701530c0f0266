// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far ahead of its readers a plan's data is requested: as many visits as readers make during
 * the latency of the origin, and some more.  Data that is requested earlier than necessary takes
 * the slot of a block for a later visit.
 *
 * Readers that wait for late data are slow.  So the fastest measurement of the last seconds counts,
 * and SLACK lets a pace that is too low grow.
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "prefetch/plan_pace.h"

/* Length of a measurement, ns.  It contains several bursts of a reader, which reads in batches. */
#define MEASURE		(600 * NSEC_PER_MSEC)
/* The fastest measurement of the present and of the previous interval counts.  Length of an
 * interval, ns.
 */
#define INTERVAL	(4 * NSEC_PER_SEC)
/* Data is requested a quarter of the latency plus this time earlier than necessary, ns: readers
 * come in bursts, and some volumes pass their bandwidth in slices of 20 ms.
 */
#define SLACK		(50 * NSEC_PER_MSEC)

/**
 * nc_plan_pace_see() - measure the pace of the readers
 * @pace: zeroed before the first call
 * @now: ktime in ns
 * @front: nc_plan_cursor.front; if it is lower than before, readers have jumped
 */
void nc_plan_pace_see(struct nc_plan_pace *pace, u64 now, u32 front)
{
	u64 took = now - pace->since, rate;

	if (!pace->since || front < pace->front) {
		pace->since = now;
		pace->front = front;
		return;
	}
	if (took < MEASURE)
		return;
	rate = div64_u64((u64)(front - pace->front) * NSEC_PER_SEC, took);
	pace->since = now;
	pace->front = front;
	if (now - pace->turned > INTERVAL) {
		pace->older = now - pace->turned > 2 * INTERVAL ? 0 : pace->best;
		pace->best = 0;
		pace->turned = now;
	}
	pace->best = max(pace->best, rate);
}

/* Return how many visits ahead of @front to request data that takes @latency ns to arrive.  0: the
 * pace is unknown, or below one visit in this time.
 */
u32 nc_plan_pace_ahead(const struct nc_plan_pace *pace, u64 latency)
{
	u64 visits = mul_u64_u64_div_u64(max(pace->best, pace->older),
					 latency + latency / 4 + SLACK, NSEC_PER_SEC);

	return min_t(u64, visits, U32_MAX);
}
