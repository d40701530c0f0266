/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetch: jobs are brought into the cache while nobody else needs the origin. */
#ifndef NEARCACHE_PREFETCH_PREFETCH_H
#define NEARCACHE_PREFETCH_PREFETCH_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "prefetch/job.h"

struct nc_cache;
struct nc_fill;

/* A write of so many bytes may be part of a checkpoint. */
#define NC_PREFETCH_CHECKPOINT	(128U << 10)

/**
 * struct nc_latency - reads of the origin that were measured
 * @sum: nanoseconds that they took
 * @count: reads
 */
struct nc_latency {
	u64 sum;
	u32 count;
};

/**
 * struct nc_prefetch - the prefetch engine of a cache
 * @wq: runs @work, which may wait for a request to the origin
 * @work: sends what is due
 * @lock: protects @jobs and the rest; process context; innermost
 * @jobs: see job.h
 * @paused: the table is not live
 * @flying: bytes on their way
 * @window: that may be, so that who comes to read does not wait long behind them
 * @delay: smoothed time that they take to come from the origin, beside @least, nanoseconds
 * @least: about the shortest one
 * @shared: somebody else read from the origin at the last look
 * @due: jiffies: not before, while @shared
 * @rate: bytes per second, while @shared
 * @demand: reads of others from the origin under way
 * @demand_last: jiffies of the last one that came or went
 * @wrote: jiffies of the last large write
 * @failed: jiffies of the last read that failed
 * @clean: others' reads of when nothing of ours had flown for a while; older ones count less
 * @beside: the rest of them, since @looked
 * @looked: jiffies when @rate was changed
 * @probed: jiffies when sending was stopped to learn @clean
 * @landed: ns of ktime when the last of ours had come
 * @asked: bytes that others asked the origin for; of a while ago counts less
 * @met: bytes of those that a job came across, and of reads that waited for ours
 * @weighed: jiffies when these two were compared
 * @followed: most of the others read what jobs bring
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

/* Is there a job?  A hint. */
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
