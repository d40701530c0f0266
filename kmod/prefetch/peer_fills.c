// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills at a peer.  A job may read at a peer, a device with the data of the origin, instead of at
 * the origin.  The peer's data may be older than the origin's after a change of the origin.  So
 * only a cache in mode read-only has such jobs, and the cache cancels them at each change of which
 * it learns.
 */
#include <linux/blkdev.h>
#include <linux/fs.h>

#include "cache.h"
#include "io/fill.h"
#include "prefetch/peer_fills.h"

/* Interval at which the worker looks whether the devices of peers were removed, jiffies. */
#define PEER_LOOK	HZ

/* Have the fills at peers reached their share of the fill memory, a quarter of the cap?  All fills
 * of prefetches may use half of it, so that a quarter is left to jobs that read the origin.
 */
bool nc_peer_fills_enough(const struct nc_cache *c)
{
	lockdep_assert_held(&c->prefetch.lock);
	return c->prefetch.peers_flying > READ_ONCE(c->fills.memory_max) / 4;
}

/* Begin a fill at a peer.  Returns false if a suspend keeps jobs from reading at peers. */
bool nc_peer_fill_begin(struct nc_prefetch *p)
{
	bool may;

	spin_lock(&p->lock);
	may = !p->peers_held;
	p->peers_busy += may;
	spin_unlock(&p->lock);
	return may;
}

void nc_peer_fill_end(struct nc_prefetch *p)
{
	spin_lock(&p->lock);
	if (!--p->peers_busy)
		wake_up_all(&p->peers_idle);
	spin_unlock(&p->lock);
}

/* Let a listed fill read at the peer of @job.  If the job was cancelled, the origin may have
 * changed since, so the fill must not publish.  nc_peer_jobs_cancel() runs before the fills of a
 * change are marked stale, under their bucket lock: a fill that enters the list after that sees
 * the job cancelled.
 */
void nc_peer_fill_aim(struct nc_cache *c, const struct nc_job *job, struct nc_fill *f)
{
	u64 block = f->entry.span.block;
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);

	f->peer = I_BDEV(job->peer->f_mapping->host);
	if (READ_ONCE(job->state) == NEARCACHE_JOB_RUNNING)
		return;
	spin_lock(&bucket->lock);
	nc_fill_mark_stale(bucket, block, nc_span_bits(&f->entry.span));
	spin_unlock(&bucket->lock);
}

/* Was the peer's device removed, for example with its NVMe controller? */
static bool peer_is_gone(const struct nc_job *job)
{
	return test_bit(GD_DEAD, &I_BDEV(job->peer->f_mapping->host)->bd_disk->state);
}

/* End each job whose peer's device was removed, so that it closes the device.  A job that waits for
 * readers sends no read that would fail, so only this look finds that the device was removed.
 * Returns jiffies until the next look.
 */
unsigned long nc_peer_jobs_look(struct nc_prefetch *p)
{
	unsigned long wait = MAX_SCHEDULE_TIMEOUT;
	struct nc_job *job;

	lockdep_assert_held(&p->lock);
	list_for_each_entry(job, &p->jobs.waiting, list) {
		if (!job->peer)
			continue;
		wait = PEER_LOOK;
		if (unlikely(peer_is_gone(job)))
			WRITE_ONCE(job->failures, NC_JOB_FAILURES_MAX);
	}
	return wait;
}

/* Cancel the jobs that read at a peer: nc_origin.changed, and for a table in a writing mode. */
void nc_peer_jobs_cancel(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;
	struct nc_job *job;
	bool found = false;

	spin_lock(&p->lock);
	list_for_each_entry(job, &p->jobs.waiting, list)
		if (job->peer && job->state == NEARCACHE_JOB_RUNNING) {
			WRITE_ONCE(job->state, NEARCACHE_JOB_CANCELLED);
			found = true;
		}
	if (found)
		nc_prefetch_kick(p);
	spin_unlock(&p->lock);
}

/**
 * nc_prefetch_hold_peers() - keep jobs from reading at peers, or let them again
 * @c: cache
 * @hold: true: keep them from it, and wait until no fill reads at a peer; false: let them
 *
 * A suspend calls this before it holds back the reads of this device: a peer may read here, and the
 * fill of this cache may wait for a fill of that peer.
 *
 * Context: may sleep, with @hold until the peers have answered.
 */
void nc_prefetch_hold_peers(struct nc_cache *c, bool hold)
{
	struct nc_prefetch *p = &c->prefetch;

	spin_lock(&p->lock);
	p->peers_held = hold;
	if (!hold)
		nc_prefetch_kick(p);
	spin_unlock(&p->lock);
	if (hold)
		wait_event(p->peers_idle, !READ_ONCE(p->peers_busy));
}
