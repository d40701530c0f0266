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
 * @work: sends the fills that are due
 * @lock: protects @jobs and the rest; process context; innermost
 * @jobs: see job.h
 * @paused: the table is not live
 * @flying: bytes of fills in flight
 * @window: that may be, so that who comes to read does not wait long behind them
 * @delay: smoothed time that they take to come from the origin, beside @least, nanoseconds
 * @least: about the shortest one
 * @shared: somebody else read from the origin at the last look
 * @due: jiffies: not before, while @shared
 * @rate: bytes per second, while @shared
 * @failed: jiffies of the last read that failed
 * @clean: others' reads of when nothing of ours had flown for a while; older ones count less
 * @beside: the rest of them, since @looked
 * @looked: jiffies when @rate was changed
 * @probed: jiffies when sending was stopped to learn @clean
 * @weighed: jiffies when nc_demand.asked and .met were compared
 * @followed: most of the others read the data that jobs bring
 *
 * @flying is read without the lock, as a hint.
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
	unsigned long failed;
	struct nc_latency clean;
	struct nc_latency beside;
	unsigned long looked;
	unsigned long probed;
	unsigned long weighed;
	bool followed;
};

void nc_prefetch_init(struct nc_cache *c);
int nc_prefetch_alloc(struct nc_cache *c);
void nc_prefetch_destroy(struct nc_cache *c);
void nc_prefetch_pause(struct nc_cache *c);
void nc_prefetch_resume(struct nc_cache *c);
s64 nc_prefetch_submit(struct nc_cache *c, struct nc_job *job);
u32 nc_prefetch_cancel(struct nc_cache *c, u32 id);

#endif /* NEARCACHE_PREFETCH_PREFETCH_H */
