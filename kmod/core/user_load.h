/* SPDX-License-Identifier: GPL-2.0-only */
/* Users' reads and writes of the origin, as prefetch needs to know them in order to yield. */
#ifndef NEARCACHE_CORE_USER_LOAD_H
#define NEARCACHE_CORE_USER_LOAD_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/time64.h>
#include <linux/types.h>

/* A write of at least this many bytes may be part of a checkpoint. */
#define NC_DEMAND_CHECKPOINT	(128U << 10)
/* A second after such a write nothing is prefetched. */
#define NC_DEMAND_HOLD		HZ
/* Users are gone when none of their reads was seen for this long. */
#define NC_DEMAND_QUIET		(HZ / 10)
/* A read is undisturbed if no prefetch was in flight for this long before it: the origin may still
 * be busy with I/O that a prefetch delayed.
 */
#define NC_DEMAND_CLEAN		(30 * (u64)NSEC_PER_MSEC)

/**
 * struct nc_demand - users' I/O on the origin
 * @watched: a prefetch job waits or runs: reads are counted
 * @disturbed: fills of jobs are in flight
 * @clean_since: ns of ktime when the last of these fills ended
 * @reading: users' fills that read from the origin, begun while @watched
 * @last: jiffies when a read began or ended
 * @wrote: jiffies of the last large write
 * @asked: bytes that users asked the origin for; the throttle halves it periodically
 * @met: bytes of users' reads that a job came across, and of reads that joined its fills; likewise
 * @measured: called after a read, with its time in ns and whether it was undisturbed; set by
 *	prefetch.c; process context
 *
 * All of them are hints, read and written without a lock.  Prefetch sets the first three.
 */
struct nc_demand {
	bool watched;
	bool disturbed;
	u64 clean_since;
	atomic_t reading;
	unsigned long last;
	unsigned long wrote;
	atomic64_t asked;
	atomic64_t met;
	void (*measured)(struct nc_demand *d, u64 took, bool undisturbed);
};

void nc_demand_init(struct nc_demand *d,
		    void (*measured)(struct nc_demand *d, u64 took, bool undisturbed));
bool nc_demand_begin_read(struct nc_demand *d, u32 bytes, u64 now);
void nc_demand_end_read(struct nc_demand *d, u64 took, bool undisturbed);

/* A read goes to the origin uncached, or comes from there. */
static inline void nc_demand_see_bypass(struct nc_demand *d)
{
	if (unlikely(READ_ONCE(d->watched)))
		WRITE_ONCE(d->last, jiffies);
}

static inline void nc_demand_see_write(struct nc_demand *d, u32 bytes)
{
	if (bytes >= NC_DEMAND_CHECKPOINT)
		WRITE_ONCE(d->wrote, jiffies);
}

/* A job came across data that users just read, or a user's read joined a job's fill. */
static inline void nc_demand_see_met(struct nc_demand *d, u64 bytes)
{
	atomic64_add(bytes, &d->met);
}

/* Is a checkpoint perhaps being written? */
static inline bool nc_demand_writes(const struct nc_demand *d)
{
	return time_before(jiffies, READ_ONCE(d->wrote) + NC_DEMAND_HOLD);
}

/* Do users read from the origin, or did so just now? */
static inline bool nc_demand_reads(const struct nc_demand *d)
{
	return atomic_read(&d->reading) ||
	       time_before(jiffies, READ_ONCE(d->last) + NC_DEMAND_QUIET);
}

#endif /* NEARCACHE_CORE_USER_LOAD_H */
