// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads that wait for a failed origin.  With origin_timeout in the table, a read that failed at
 * the origin with a path error, which may pass, is sent again each second until it succeeds or
 * the timeout ends.  A suspend without flush returns all waiting reads to device-mapper,
 * which maps them again with the next table: that table may name the origin's new device.
 *
 * Whether such a suspend is under way is asked of device-mapper each time.  It fails a returned
 * read once the suspend has ended, and a signal can end the suspend before it completes.
 *
 * Only reads wait: a waiting write would block the file system's journal, and a failed flush
 * must not succeed later.
 */
#include "cache.h"
#include "core/bio.h"
#include "io/origin_retry.h"
#include "io/read.h"

/* Interval between two attempts, in jiffies. */
#define AGAIN	HZ

/**
 * nc_origin_retry_wait() - queue a failed origin read for another attempt
 * @t: target
 * @bio: dm's clone, completed with @error
 * @error: status; set to BLK_STS_DM_REQUEUE if a suspend without flush has begun
 *
 * Context: completion of @bio, including interrupts.
 * Return: true if the read was queued and stays incomplete; false if it completes with @error.
 */
bool nc_origin_retry_wait(struct nc_target *t, struct bio *bio, blk_status_t *error)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_origin_retry *o = &t->cache->origin_retry;
	u32 timeout = READ_ONCE(t->origin_timeout);
	unsigned long flags;

	if (!timeout || !blk_path_error(*error))
		return false;
	if (!io->waits) {
		io->waits = true;
		io->since = jiffies;
		atomic_inc(&o->count);
	} else if (time_after(jiffies, io->since + timeout * HZ)) {
		return false;
	}
	if (!xchg(&o->reported, true)) {
		DMWARN("%s: origin %pg fails: reads wait up to %u s for it",
		       nc_cache_name(t->cache), t->origin->bdev, timeout);
		nc_health_event(t->cache, NEARCACHE_EVENT_ORIGIN_LOST);
	}
	if (dm_noflush_suspending(t->ti)) {
		*error = BLK_STS_DM_REQUEUE;
		return false;
	}
	nc_bio_restore(bio, &io->iter, io->flags);
	io->target = t;
	/* Queue under the lock: once the worker has the bio, the cache may be freed. */
	spin_lock_irqsave(&o->lock, flags);
	bio_list_add(&o->waiting, bio);
	queue_delayed_work(t->cache->workers.origin, &o->again, AGAIN);
	spin_unlock_irqrestore(&o->lock, flags);
	return true;
}

/**
 * nc_origin_retry_answered() - account a completed read that waited for the origin
 * @t: target
 * @bio: dm's clone
 * @well: the read succeeded
 *
 * Context: completion of @bio, including interrupts.
 */
void nc_origin_retry_answered(struct nc_target *t, struct bio *bio, bool well)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_origin_retry *o = &t->cache->origin_retry;

	io->waits = false;
	atomic_dec(&o->count);
	if (well && xchg(&o->reported, false)) {
		DMINFO("%s: origin %pg answers again", nc_cache_name(t->cache),
		       t->origin->bdev);
		nc_health_event(t->cache, NEARCACHE_EVENT_ORIGIN_BACK);
	}
}

static void send_again(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, origin_retry.again);
	struct nc_origin_retry *o = &c->origin_retry;
	struct bio_list bios;
	struct bio *bio;

	spin_lock_irq(&o->lock);
	bios = o->waiting;
	bio_list_init(&o->waiting);
	spin_unlock_irq(&o->lock);
	while ((bio = bio_list_pop(&bios))) {
		struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

		if (dm_noflush_suspending(io->target->ti)) {
			bio->bi_status = BLK_STS_DM_REQUEUE;
			bio_endio(bio);
		} else {
			nc_bio_send(bio, io->target->origin->bdev);
		}
	}
}

/*
 * Prepare for a suspend of the table line @t.  In a suspend without flush, the waiting reads return
 * to device-mapper at once.  A suspend with flush waits for these reads.
 * Context: presuspend; may sleep.
 */
void nc_origin_retry_suspend(struct nc_target *t)
{
	struct nc_origin_retry *o = &t->cache->origin_retry;

	spin_lock_irq(&o->lock);
	if (dm_noflush_suspending(t->ti) && !bio_list_empty(&o->waiting))
		mod_delayed_work(t->cache->workers.origin, &o->again, 0);
	spin_unlock_irq(&o->lock);
}

void nc_origin_retry_init(struct nc_cache *c)
{
	struct nc_origin_retry *o = &c->origin_retry;

	spin_lock_init(&o->lock);
	bio_list_init(&o->waiting);
	INIT_DELAYED_WORK(&o->again, send_again);
}
