/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracks users' reads and writes of the origin, so that prefetch can yield to them. */
#ifndef NEARCACHE_CORE_USER_LOAD_H
#define NEARCACHE_CORE_USER_LOAD_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/time64.h>
#include <linux/types.h>

/* A write of at least this many bytes may be part of a checkpoint. */
#define NC_DEMAND_CHECKPOINT	(128U << 10)
/* Nothing is prefetched for this many jiffies after such a write. */
#define NC_DEMAND_HOLD		HZ
/* Prefetch stops yielding to readers when users read nothing for this many jiffies. */
#define NC_DEMAND_QUIET		(HZ / 10)
/* A read is undisturbed if no prefetch was in flight for this many ns before it.  After a prefetch
 * the origin may be busy for that long with other I/O that the prefetch has delayed.
 */
#define NC_DEMAND_CLEAN		(30 * (u64)NSEC_PER_MSEC)
/* Entries of nc_demand.passed: a job looks at them several times per second. */
#define NC_DEMAND_PASSED	2048U
/* Jiffies of a unit of nc_demand_stamp(), and the bits of the stamp: they wrap after 24 days. */
#define NC_DEMAND_UNIT		max(1, HZ / 8)
#define NC_DEMAND_STAMP_BITS	24
/* Units for which an entry counts: a minute.  Later, readers may read the block again. */
#define NC_DEMAND_RECENT	(60U * HZ / NC_DEMAND_UNIT)

/**
 * struct nc_demand - users' I/O on the origin
 * @watched: a prefetch job waits or runs, so users' reads are counted
 * @disturbed: fills of prefetch jobs are in flight
 * @clean_since: ktime in ns when the last fill of a job ended
 * @reading: number of users' fills that are reading from the origin, begun while @watched
 * @last: jiffies when a user's fill last ended, or a bypassed read was last sent or answered
 * @wrote: jiffies of the last large write
 * @asked: bytes of users' fills begun while @watched; the throttle halves it periodically
 * @met: bytes that a job and users wanted at about the same time; halved together with @asked
 * @passed: NC_DEMAND_PASSED entries: blocks that users read at the origin to their end because no
 *	slot was free, while @watched: number of the block plus 1, and the time; 0: none
 * @measured: called after a read, with its duration in ns and whether it was undisturbed; set by
 *	prefetch.c; process context
 *
 * All fields are hints, used without a lock.  Prefetch sets @watched, @disturbed, @clean_since, and
 * allocates @passed before it first sets @watched.
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
	u64 *passed;
	void (*measured)(struct nc_demand *d, u64 took, bool undisturbed);
};

void nc_demand_init(struct nc_demand *d,
		    void (*measured)(struct nc_demand *d, u64 took, bool undisturbed));
bool nc_demand_begin_read(struct nc_demand *d, u32 bytes, u64 now);
void nc_demand_end_read(struct nc_demand *d, u64 took, bool undisturbed);

/* Call this when a bypassed read is sent to the origin, and when the origin has answered it. */
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

/* Call this when a job finds data that users just read, or a user's read joins a job's fill. */
static inline void nc_demand_see_met(struct nc_demand *d, u64 bytes)
{
	atomic64_add(bytes, &d->met);
}

/* Time for nc_demand_take_passed(). */
static inline u32 nc_demand_stamp(void)
{
	return (u32)(jiffies / NC_DEMAND_UNIT) & ((1U << NC_DEMAND_STAMP_BITS) - 1);
}

/* A read bypasses the cache because no slot is free for @block, and reads the block to its end. */
static inline void nc_demand_see_passed(struct nc_demand *d, u64 block)
{
	if (unlikely(READ_ONCE(d->watched)))
		WRITE_ONCE(d->passed[block % NC_DEMAND_PASSED],
			   (block + 1) << NC_DEMAND_STAMP_BITS | nc_demand_stamp());
}

/**
 * nc_demand_take_passed() - find out whether users have read a block at the origin, and forget it
 * @d: of the origin
 * @block: origin block
 * @since: only reads after this time count, nc_demand_stamp()
 *
 * A call that returns true removes the entry, so a job leaves out one of its visits of the block
 * each time that readers pass it.  Entries count for a minute.  Another block may overwrite the
 * entry, and a reader may set it between the look and the removal: it is only a hint.
 *
 * Context: the prefetch worker.
 */
static inline bool nc_demand_take_passed(struct nc_demand *d, u64 block, u32 since)
{
	u64 seen = READ_ONCE(d->passed[block % NC_DEMAND_PASSED]);
	u32 mask = (1U << NC_DEMAND_STAMP_BITS) - 1, now = nc_demand_stamp();
	u32 age = (now - (u32)seen) & mask;

	if (seen >> NC_DEMAND_STAMP_BITS != block + 1 || age > NC_DEMAND_RECENT ||
	    age >= ((now - since) & mask))
		return false;
	WRITE_ONCE(d->passed[block % NC_DEMAND_PASSED], 0);
	return true;
}

/* May users be writing a checkpoint?  Then nothing is prefetched. */
static inline bool nc_demand_writes(const struct nc_demand *d)
{
	return time_before(jiffies, READ_ONCE(d->wrote) + NC_DEMAND_HOLD);
}

/* Do users read from the origin, or did they within the last NC_DEMAND_QUIET? */
static inline bool nc_demand_reads(const struct nc_demand *d)
{
	return atomic_read(&d->reading) ||
	       time_before(jiffies, READ_ONCE(d->last) + NC_DEMAND_QUIET);
}

#endif /* NEARCACHE_CORE_USER_LOAD_H */
