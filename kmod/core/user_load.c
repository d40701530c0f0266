// SPDX-License-Identifier: GPL-2.0-only
/* Records users' reads of the origin for the throttle of prefetch. */
#include "core/user_load.h"

void nc_demand_init(struct nc_demand *d,
		    void (*measured)(struct nc_demand *d, u64 took, bool undisturbed))
{
	d->measured = measured;
	/* At first, no read or large write counts as recent. */
	d->last = jiffies - NC_DEMAND_QUIET;
	d->wrote = jiffies - NC_DEMAND_HOLD;
}

/**
 * nc_demand_begin_read() - a fill for a user is about to read from the origin
 * @d: demand, with @d->watched set
 * @bytes: length of the read
 * @now: current time, ktime in ns
 *
 * Return: whether the read is undisturbed (NC_DEMAND_CLEAN); pass this to nc_demand_end_read().
 */
bool nc_demand_begin_read(struct nc_demand *d, u32 bytes, u64 now)
{
	bool undisturbed = !READ_ONCE(d->disturbed) &&
			   now - READ_ONCE(d->clean_since) >= NC_DEMAND_CLEAN;

	atomic64_add(bytes, &d->asked);
	atomic_inc(&d->reading);
	return undisturbed;
}

/* A read that nc_demand_begin_read() announced completed after @took ns.  Context: process. */
void nc_demand_end_read(struct nc_demand *d, u64 took, bool undisturbed)
{
	WRITE_ONCE(d->last, jiffies);
	atomic_dec(&d->reading);
	d->measured(d, took, undisturbed);
}
