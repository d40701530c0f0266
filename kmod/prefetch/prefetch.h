/* SPDX-License-Identifier: GPL-2.0-only */
/* The prefetch engine: brings the data of jobs into the cache, and yields to users' I/O. */
#ifndef NEARCACHE_PREFETCH_PREFETCH_H
#define NEARCACHE_PREFETCH_PREFETCH_H

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "prefetch/job.h"
#include "prefetch/pipe.h"
#include "prefetch/plan_stream.h"

struct nc_cache;

/**
 * struct nc_latency - mean latency of some reads of the origin
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
 * @work: submits fills of jobs
 * @lock: protects @jobs and all fields below; process context; innermost
 * @jobs: the jobs of the cache
 * @paused: no dm table is live
 * @retried: jiffies when jobs that wait for a slot last tried again; for the worker only
 * @asked: jiffies when a job last let reclaim look for slots; for the worker only
 * @asked_tick: tick of @asked; for the worker only
 * @reads: jobs' reads of the origin that have succeeded
 * @fitted: @reads when the size of the reserve was last adapted; for the worker only
 * @flying: bytes in flight of the fills of jobs that read the origin: being read, or written to the
 *	cache device
 * @reading: the part of @flying that is being read
 * @peers_flying: the same of jobs that read at a peer
 * @peers_busy: fills at peers that were begun and have not ended
 * @peers_held: no fill at a peer may begin
 * @peers_idle: woken when @peers_busy falls to zero
 * @pipe: its window limits @reading
 * @memory_least: lowest value of nc_fills.memory_max, bytes
 * @memory_most: its highest value, bytes; equal to @memory_least if the operator has set it
 * @shared: other readers used the origin when nc_throttle_wait() last ran
 * @due: jiffies of the next submission, while @shared
 * @rate: limit in bytes per second, while @shared
 * @failed: jiffies when a job's read last failed
 * @clean: latency of users' reads without disturbance by jobs; old samples have less weight
 * @beside: latency of users' reads that jobs may have disturbed, since @looked
 * @looked: jiffies when @rate was last adjusted
 * @probed: jiffies when jobs last paused to measure @clean
 * @weighed: jiffies when nc_demand.asked and .met were last compared
 * @stream: brings the data of a plan
 * @followed: most reads of other readers are for data that jobs bring
 *
 * The worker reads @flying without the lock, as a hint.
 */
struct nc_prefetch {
	struct workqueue_struct *wq;
	struct delayed_work work;
	spinlock_t lock;	/* see above */
	struct nc_jobs jobs;
	bool paused;
	unsigned long retried;
	unsigned long asked;
	u32 asked_tick;
	u32 reads;
	u32 fitted;
	u64 flying;
	u64 reading;
	u64 peers_flying;
	u32 peers_busy;
	bool peers_held;
	wait_queue_head_t peers_idle;
	struct nc_pipe pipe;
	u64 memory_least;
	u64 memory_most;
	bool shared;
	unsigned long due;
	u64 rate;
	unsigned long failed;
	struct nc_latency clean;
	struct nc_latency beside;
	unsigned long looked;
	unsigned long probed;
	unsigned long weighed;
	struct nc_plan_stream stream;
	bool followed;
};

/* Run the worker at once if there are jobs and a table is live. */
static inline void nc_prefetch_kick(struct nc_prefetch *p)
{
	lockdep_assert_held(&p->lock);
	if (!p->paused && p->jobs.count)
		mod_delayed_work(p->wq, &p->work, 0);
}

void nc_prefetch_init(struct nc_cache *c);
int nc_prefetch_alloc(struct nc_cache *c);
void nc_prefetch_destroy(struct nc_cache *c);
void nc_prefetch_rest(struct nc_cache *c);
void nc_prefetch_pause(struct nc_cache *c);
void nc_prefetch_resume(struct nc_cache *c);
void nc_prefetch_hold_peers(struct nc_cache *c, bool hold);
s64 nc_prefetch_submit(struct nc_cache *c, struct nc_job *job);
u32 nc_prefetch_cancel(struct nc_cache *c, u32 id);

#endif /* NEARCACHE_PREFETCH_PREFETCH_H */
