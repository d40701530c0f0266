/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetch engine: brings jobs into the cache while reads do not need the origin. */
#ifndef NEARCACHE_PREFETCH_PREFETCH_H
#define NEARCACHE_PREFETCH_PREFETCH_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "prefetch/job.h"

struct nc_cache;
struct nc_fill;

/* A write of at least this many bytes may be part of a checkpoint. */
#define NC_PREFETCH_CHECKPOINT	(128U << 10)

/**
 * struct nc_latency - measured origin reads
 * @sum: total time in nanoseconds
 * @count: number of reads
 */
struct nc_latency {
	u64 sum;
	u32 count;
};

/**
 * struct nc_prefetch - the prefetch engine of a cache
 * @wq: runs @work, which may wait for a request to the origin
 * @work: submits fills that are due
 * @lock: protects @jobs and the rest; process context; innermost
 * @jobs: see job.h
 * @paused: the table is not live
 * @flying: bytes of jobs' fills in flight
 * @window: limit of @flying, so that a new read does not wait long behind them
 * @delay: smoothed latency of jobs' reads in excess of @least, nanoseconds
 * @least: approximate minimum of that latency
 * @shared: at the last look others read from the origin as well
 * @due: jiffies before which nothing is submitted while @shared
 * @rate: bytes per second while @shared
 * @demand: other origin reads in flight
 * @demand_last: jiffies of the last start or end of one
 * @wrote: jiffies of the last large write
 * @failed: jiffies of the last failed read
 * @clean: other reads that began while no fill of a job was in flight for CLEAN; decays
 * @beside: the remaining other reads, since @looked
 * @looked: jiffies of the last change of @rate
 * @probed: jiffies of the last pause to measure @clean
 * @landed: ktime in ns at which the last fill of a job completed and none was in flight
 * @asked: bytes that others read from the origin; decays
 * @met: bytes of those that a job met shortly after, or that joined a job's fill; decays
 * @weighed: jiffies of the last comparison of these two
 * @followed: most other reads are of data that jobs bring
 *
 * @flying, @landed, @demand, @demand_last and @wrote are read without the lock, as hints.
 */
struct nc_prefetch {
	struct workqueue_struct *wq;
	struct delayed_work work;
	spinlock_t lock;	/* see above */
	struct nc_jobs jobs;
	bool paused;
	u64 flying;
	u64 window;
	u64 delay;
	u64 least;
	bool shared;
	unsigned long due;
	u64 rate;
	atomic_t demand;
	unsigned long demand_last;
	unsigned long wrote;
	unsigned long failed;
	struct nc_latency clean;
	struct nc_latency beside;
	unsigned long looked;
	unsigned long probed;
	u64 landed;
	atomic64_t asked;
	atomic64_t met;
	unsigned long weighed;
	bool followed;
};

/* Is any job unfinished?  A hint. */
static inline bool nc_prefetch_any(const struct nc_prefetch *p)
{
	return READ_ONCE(p->jobs.count);
}

void nc_prefetch_init(struct nc_cache *c);
int nc_prefetch_alloc(struct nc_cache *c);
void nc_prefetch_destroy(struct nc_cache *c);
void nc_prefetch_pause(struct nc_cache *c);
void nc_prefetch_resume(struct nc_cache *c);
s64 nc_prefetch_submit(struct nc_cache *c, struct nc_job *job);
u32 nc_prefetch_cancel(struct nc_cache *c, u32 id);
void nc_prefetch_begun(struct nc_cache *c, struct nc_fill *f);
void nc_prefetch_done(struct nc_cache *c, struct nc_fill *f, u64 bits, int error);
void nc_prefetch_demand(struct nc_cache *c);
void nc_prefetch_read_sent(struct nc_cache *c, struct nc_fill *f);
void nc_prefetch_read_done(struct nc_cache *c, struct nc_fill *f);
bool nc_prefetch_holds(const struct nc_cache *c);
void nc_prefetch_wrote(struct nc_cache *c, u32 bytes);

#endif /* NEARCACHE_PREFETCH_PREFETCH_H */
