// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write intent: keeps the cache warm after a crash of a session that writes.  Before a region of
 * the origin is written, it is marked durably on the cache device.  The mark stays until the origin
 * has made the write durable and the slot table reflects it (write_intent_clear.c).  A crash costs
 * the cached data of the marked regions, and no other data is in doubt.
 *
 * A cache device that was pulled out takes no marks: write_intent_leave.c records that it left.
 */
#include <linux/blkdev.h>
#include <linux/dm-io.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "core/sleep.h"
#include "meta/origin_fingerprint.h"
#include "meta/write_intent.h"
#include "meta/meta.h"

#define PAGES			(NC_RECOVER_INTENT / NC_INTENT_PAGE)
#define BITS_PER_PAGE		(NC_INTENT_PAGE * NEARCACHE_INTENT_BITS)

/* Allocate the maps, if they do not exist, for a dm table with a witness.  Context: constructor;
 * may sleep; calls may run concurrently.  Return: 0 or -ENOMEM.
 */
int nc_intent_alloc(struct nc_intent *i)
{
	struct nc_intent_maps *maps;

	if (READ_ONCE(i->maps))
		return 0;
	maps = vzalloc(sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	if (cmpxchg(&i->maps, NULL, maps))
		vfree(maps);
	return 0;
}

void nc_intent_destroy(struct nc_intent *i)
{
	vfree(i->maps);
}

/* Number of marked regions, not counting NC_INTENT_ENDS; 0 if no session marks regions. */
u32 nc_intent_count(const struct nc_intent *i)
{
	const struct nc_intent_maps *maps = READ_ONCE(i->maps);

	return maps && READ_ONCE(i->mode) == NC_INTENT_ON ?
	       bitmap_weight(maps->set, NEARCACHE_INTENT_REGIONS) : 0;
}

/**
 * nc_intent_write() - write pages of the bitmap to the medium
 * @c: live cache
 * @pages: bit per page of 4096 bytes
 * @flags: REQ_FUA or none
 *
 * Context: may sleep; io_lock is held.
 * Return: 0 or -EIO.
 */
int nc_intent_write(struct nc_cache *c, u32 pages, blk_opf_t flags)
{
	struct nearcache_intent *image = c->intent.maps->image;
	unsigned long map = pages, first, end;
	u32 n;
	int r = 0;

	lockdep_assert_held(&c->intent.io_lock);
	for_each_set_bitrange(first, end, &map, PAGES) {
		for (n = first * NC_INTENT_PAGE; n < end * NC_INTENT_PAGE; n++)
			nc_intent_sector_seal(&image[n]);
		r = nc_super_io(c->meta->super.io, c->dev.bdev,
				REQ_OP_WRITE | REQ_META | flags,
				c->geo.intent_offset + first * NEARCACHE_PAGE_SIZE,
				&image[first * NC_INTENT_PAGE],
				(end - first) * NEARCACHE_PAGE_SIZE);
		if (r)
			break;
	}
	return r;
}

/* Set or clear @bit, a region or NC_INTENT_ENDS, in the image.  The caller holds io_lock.  Returns
 * a mask with the changed page, for nc_intent_write().
 */
u32 nc_intent_put(struct nc_intent_maps *maps, u32 bit, bool on)
{
	struct nearcache_intent *sector;
	u8 mask = 1U << bit % 8;
	u8 *byte;

	if (bit == NC_INTENT_ENDS) {
		maps->image[0].flags = cpu_to_le32(on ? NEARCACHE_INTENT_ENDS : 0);
		return 1;
	}
	sector = &maps->image[bit / NEARCACHE_INTENT_BITS];
	byte = &sector->bits[bit % NEARCACHE_INTENT_BITS / 8];
	*byte = on ? *byte | mask : *byte & ~mask;
	return 1U << bit / BITS_PER_PAGE;
}

/* Regions and ends that a write overlaps. */
struct touched {
	u32 first;
	u32 last;
	bool ends;
};

static struct touched touched_by(const struct nc_cache *c, const struct bio *bio)
{
	sector_t start = bio->bi_iter.bi_sector, end = bio_end_sector(bio);
	sector_t size = c->geo.origin_size >> SECTOR_SHIFT;
	sector_t length = NC_FINGERPRINT_END >> SECTOR_SHIFT;

	return (struct touched) {
		.first = start >> c->intent.region_shift,
		.last = (end - 1) >> c->intent.region_shift,
		.ends = start < length || end + length > size,
	};
}

static void note_regions(unsigned long *map, const struct touched *at)
{
	u32 r;

	for (r = at->first; r <= at->last; r++)
		if (!test_bit(r, map))
			set_bit(r, map);
	if (at->ends && !test_bit(NC_INTENT_ENDS, map))
		set_bit(NC_INTENT_ENDS, map);
}

static bool regions_noted(const unsigned long *map, const struct touched *at)
{
	u32 r;

	for (r = at->first; r <= at->last; r++)
		if (!test_bit(r, map))
			return false;
	return !at->ends || test_bit(NC_INTENT_ENDS, map);
}

/* Queue a write and the work that releases it, both under the lock: so the write cannot complete
 * before the work is queued, and nc_intent_stop() can flush that work.
 */
static void hold_locked(struct nc_cache *c, struct bio *bio)
{
	struct nc_intent *i = &c->intent;
	u32 timeout = READ_ONCE(c->health.cache_timeout);

	lockdep_assert_held(&i->lock);
	if (bio_list_empty(&i->waiting) && bio_list_empty(&i->batch))
		i->since = jiffies;
	bio_list_add(&i->waiting, bio);
	/* Use leave_work, because mark_work may be stuck in I/O to a device that hangs. */
	if (i->mode == NC_INTENT_LEAVING) {
		queue_work(c->workers.origin, &i->leave_work);
		return;
	}
	if (timeout)
		queue_delayed_work(c->workers.origin, &i->slow_work,
				   msecs_to_jiffies(timeout));
	queue_work(c->workers.cache, &i->mark_work);
}

/* Queue a write for nc_intent_release().  Returns false if no image of the memory is expected. */
static bool sleep_locked(struct nc_cache *c, struct bio *bio)
{
	struct nc_intent *i = &c->intent;

	lockdep_assert_held(&i->lock);
	if (!i->held)
		return false;
	bio_clear_polled(bio);
	bio_list_add(&i->asleep, bio);
	queue_work(c->workers.cache, &c->workers.wake);
	return true;
}

/* Queue a write.  Returns false if the mode no longer requires the write to wait. */
static bool hold_write(struct nc_cache *c, struct bio *bio)
{
	struct nc_intent *i = &c->intent;
	unsigned long flags;
	bool waits;

	spin_lock_irqsave(&i->lock, flags);
	waits = i->mode == NC_INTENT_ON || i->mode == NC_INTENT_LEAVING;
	if (waits && !sleep_locked(c, bio)) {
		bio_clear_polled(bio);
		hold_locked(c, bio);
	}
	spin_unlock_irqrestore(&i->lock, flags);
	return waits;
}

/* Queue a write for nc_intent_release().  Returns false if no write has to wait for it any more. */
static bool hold_asleep(struct nc_cache *c, struct bio *bio)
{
	unsigned long flags;
	bool held;

	spin_lock_irqsave(&c->intent.lock, flags);
	held = sleep_locked(c, bio);
	spin_unlock_irqrestore(&c->intent.lock, flags);
	return held;
}

/**
 * nc_intent_wait() - queue a write if its regions are not marked yet
 * @c: live cache
 * @bio: see nc_intent_admit()
 *
 * Return: true if the write was queued; a work will submit it.
 */
bool nc_intent_wait(struct nc_cache *c, struct bio *bio)
{
	struct nc_intent_maps *maps = c->intent.maps;
	int mode = READ_ONCE(c->intent.mode);
	struct touched at;

	if (READ_ONCE(c->intent.held) && hold_asleep(c, bio))
		return true;
	if (mode == NC_INTENT_OFF || mode == NC_INTENT_LEFT)
		return false;
	at = touched_by(c, bio);
	/* Add the range to nc_cache.write_ranges, then set "recent", then test "set": pairs with
	 * pick_idle() and take_mark(), which access these in the opposite order.
	 */
	smp_mb();
	note_regions(maps->recent, &at);
	smp_mb(); /* Pairs with the barrier in take_mark(). */
	if (!READ_ONCE(c->intent.doubt) && regions_noted(maps->set, &at))
		return false;
	note_regions(maps->wanted, &at);
	if (!hold_write(c, bio))
		return false;
	nc_count(c, INTENT_WAITS);
	return true;
}

/* A region is marked: queue write_intent_clear.c, NC_INTENT_PERIOD from now.  Context: any. */
void nc_intent_arm_clear(struct nc_cache *c)
{
	queue_delayed_work(c->workers.cache, &c->intent.clear_work, NC_INTENT_PERIOD);
}

static int mark_wanted(struct nc_cache *c)
{
	struct nc_intent_maps *maps = c->intent.maps;
	u32 bit, pages = 0;
	int r;

	bitmap_zero(maps->marking, NC_INTENT_BITS);
	for_each_set_bit(bit, maps->wanted, NC_INTENT_BITS) {
		clear_bit(bit, maps->wanted);
		if (test_bit(bit, maps->set))
			continue;
		pages |= nc_intent_put(maps, bit, true);
		__set_bit(bit, maps->marking);
	}
	r = nc_intent_write(c, pages, REQ_FUA);
	if (r)
		return r;
	for_each_set_bit(bit, maps->marking, NC_INTENT_BITS) {
		set_bit(bit, maps->set);
		nc_count(c, INTENT_MARKS);
	}
	if (pages)
		nc_intent_arm_clear(c);
	return 0;
}

/* Move @bios to the list that ready_work submits.  Context: any; nc_intent.lock is held. */
void nc_intent_queue_ready(struct nc_cache *c, struct bio_list *bios)
{
	struct nc_intent *i = &c->intent;

	lockdep_assert_held(&i->lock);
	if (bio_list_empty(bios))
		return;
	bio_list_merge(&i->ready, bios);
	bio_list_init(bios);
	queue_work(c->workers.origin, &i->ready_work);
}

static void mark_regions_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache,
					  intent.mark_work);
	struct nc_intent *i = &c->intent;
	int r = 0, mode;

	mutex_lock(&i->io_lock);
	spin_lock_irq(&i->lock);
	mode = i->mode;
	bio_list_merge(&i->batch, &i->waiting);
	bio_list_init(&i->waiting);
	spin_unlock_irq(&i->lock);
	if (mode == NC_INTENT_ON)
		r = mark_wanted(c);
	mutex_unlock(&i->io_lock);
	if (r) {
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_INTENT);
		nc_intent_leave(c);
	}
	/* leave_work releases or fails the writes. */
	if (r || mode == NC_INTENT_LEAVING) {
		queue_work(c->workers.origin, &i->leave_work);
		return;
	}
	/* Release the writes that leave_work or nc_intent_end() has not taken out of @batch. */
	spin_lock_irq(&i->lock);
	nc_intent_queue_ready(c, &i->batch);
	i->since = jiffies;
	spin_unlock_irq(&i->lock);
}

static void submit_ready(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache,
					  intent.ready_work);
	struct nc_intent *i = &c->intent;
	struct bio_list bios;
	struct bio *bio;

	spin_lock_irq(&i->lock);
	bios = i->ready;
	bio_list_init(&i->ready);
	spin_unlock_irq(&i->lock);
	while ((bio = bio_list_pop(&bios)))
		submit_bio_noacct(bio);
}

/**
 * nc_intent_hold() - let all writes wait, because an image of the memory is about to be taken
 * @c: live cache
 *
 * After the image was taken, this kernel may go on for a while.  If it wrote to the origin then,
 * the resumed kernel would not know.
 *
 * Context: process; does not sleep.
 */
void nc_intent_hold(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;

	spin_lock_irq(&i->lock);
	WRITE_ONCE(i->held, true);
	spin_unlock_irq(&i->lock);
}

/* Wait until no mark is on its way to the cache device, nor a record to the witness.  Call this
 * after nc_intent_hold().  Context: may sleep, without a time limit.
 */
void nc_intent_finish(struct nc_cache *c)
{
	flush_work(&c->intent.mark_work);
	flush_work(&c->intent.leave_work);
}

/* Does a write wait for nc_intent_release()?  Context: process. */
bool nc_intent_any_held(struct nc_intent *i)
{
	bool any;

	spin_lock_irq(&i->lock);
	any = !bio_list_empty(&i->asleep);
	spin_unlock_irq(&i->lock);
	return any;
}

/* Do writes fail, after nc_intent_refuse()?  Context: process. */
bool nc_intent_refuses(struct nc_intent *i)
{
	bool refused;

	spin_lock_irq(&i->lock);
	refused = i->refused;
	spin_unlock_irq(&i->lock);
	return refused;
}

/* Fail all writes from now on.  The medium has another state than this cache knows, and cannot
 * record that the origin is written.  Context: process; nc_life.lock; nc_intent_release() follows.
 */
void nc_intent_refuse(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;

	spin_lock_irq(&i->lock);
	i->refused = true;
	WRITE_ONCE(i->held, true);
	spin_unlock_irq(&i->lock);
}

/* The medium records again that the origin is written.  Context: process; nc_life.lock. */
void nc_intent_accept(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;

	spin_lock_irq(&i->lock);
	/* In NC_SLEEP_IMAGE, nc_intent_hold() relies on @held, too. */
	if (i->refused && nc_sleep_phase() != NC_SLEEP_IMAGE)
		WRITE_ONCE(i->held, false);
	i->refused = false;
	spin_unlock_irq(&i->lock);
}

static void refuse_writes(struct nc_cache *c, struct bio_list *bios)
{
	struct bio *bio;

	if (bio_list_empty(bios))
		return;
	DMERR_LIMIT("%s: writes failed: others used cache device %u:%u: attach another one",
		    nc_cache_name(c), MAJOR(c->dev.devt), MINOR(c->dev.devt));
	while ((bio = bio_list_pop(bios)))
		bio_io_error(bio);
}

/**
 * nc_intent_release() - let the writes go on that nc_intent_hold() stopped, or fail them
 * @c: live cache; its medium differs from the image, or no image is left to be resumed
 * @images: nc_sleep_images() when the caller found that
 *
 * After nc_intent_refuse() the writes fail.
 *
 * Context: may sleep, also for a request to the origin.
 */
void nc_intent_release(struct nc_cache *c, unsigned int images)
{
	struct nc_intent *i = &c->intent;
	struct bio_list bios;
	struct bio *bio;
	bool refused;

	spin_lock_irq(&i->lock);
	refused = i->refused;
	/* Both change before nc_intent_hold().  If another image is about to be taken, or was taken
	 * since the caller looked, keep the writes: the kernel's next call after that image
	 * releases them.
	 */
	if (!refused && (nc_sleep_phase() == NC_SLEEP_IMAGE || images != nc_sleep_images())) {
		spin_unlock_irq(&i->lock);
		return;
	}
	WRITE_ONCE(i->held, refused);
	bios = i->asleep;
	bio_list_init(&i->asleep);
	spin_unlock_irq(&i->lock);
	if (refused) {
		refuse_writes(c, &bios);
		return;
	}
	/* The origin may have been settled since the writers set this. */
	if (!bio_list_empty(&bios))
		WRITE_ONCE(c->origin.written, true);
	while ((bio = bio_list_pop(&bios)))
		if (nc_intent_admit(c, i, bio))
			submit_bio_noacct(bio);
}

/* Stop marking until the next resume, and have the witness record "left".  Context: any. */
void nc_intent_leave(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;
	unsigned long flags;
	bool leaves;

	spin_lock_irqsave(&i->lock, flags);
	leaves = i->mode == NC_INTENT_ON;
	if (leaves)
		WRITE_ONCE(i->mode, NC_INTENT_LEAVING);
	spin_unlock_irqrestore(&i->lock, flags);
	if (leaves)
		queue_work(c->workers.origin, &i->leave_work);
}

/* A write waits for its mark at most nc_health.cache_timeout: a hanging device reports no error. */
static void slow_mark_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, intent.slow_work);
	unsigned long limit = msecs_to_jiffies(READ_ONCE(c->health.cache_timeout));
	struct nc_intent *i = &c->intent;
	unsigned long until;
	bool waits;

	spin_lock_irq(&i->lock);
	waits = i->mode == NC_INTENT_ON && limit &&
		!(bio_list_empty(&i->waiting) && bio_list_empty(&i->batch));
	until = i->since + limit;
	spin_unlock_irq(&i->lock);
	if (!waits)
		return;
	if (time_before(jiffies, until)) {
		queue_delayed_work(c->workers.origin, &i->slow_work, until - jiffies);
		return;
	}
	DMWARN("%s: cache device %u:%u does not answer: writes no longer wait for it",
	       nc_cache_name(c), MAJOR(c->dev.devt), MINOR(c->dev.devt));
	nc_intent_leave(c);
}

/* nc_health.cache_timeout changed: apply it to the writes that wait already.  Any context. */
void nc_intent_retime(struct nc_cache *c)
{
	mod_delayed_work(c->workers.origin, &c->intent.slow_work, 0);
}

/**
 * nc_intent_end() - turn marking off and release all waiting writes
 * @c: live cache; its superblock durably says a state that needs no write intent
 *
 * Context: may sleep; nc_life.lock; I/O may be in flight.
 */
void nc_intent_end(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;

	i->recovered = false;
	spin_lock_irq(&i->lock);
	WRITE_ONCE(i->doubt, false);
	WRITE_ONCE(i->mode, NC_INTENT_OFF);
	nc_intent_queue_ready(c, &i->waiting);
	nc_intent_queue_ready(c, &i->batch);
	spin_unlock_irq(&i->lock);
}

/* Wait for all work.  The cache is being suspended; no bio is in flight.  May sleep. */
void nc_intent_stop(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;

	flush_work(&i->mark_work);
	cancel_delayed_work_sync(&i->clear_work);
	cancel_delayed_work_sync(&i->slow_work);
	flush_work(&i->leave_work);
	flush_work(&i->ready_work);
}

/* Cancel all work before the cache is freed: a write that completed just before nc_intent_stop()
 * may still have queued a work.  May sleep.
 */
void nc_intent_cancel(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;

	cancel_work_sync(&i->mark_work);
	cancel_delayed_work_sync(&i->clear_work);
	cancel_delayed_work_sync(&i->slow_work);
	cancel_work_sync(&i->leave_work);
	cancel_work_sync(&i->ready_work);
}

/* The caller initialises @i->clear_work and @i->leave_work. */
void nc_intent_init(struct nc_intent *i, const struct nc_intent_ops *ops)
{
	i->ops = ops;
	mutex_init(&i->io_lock);
	spin_lock_init(&i->lock);
	bio_list_init(&i->waiting);
	bio_list_init(&i->batch);
	bio_list_init(&i->ready);
	bio_list_init(&i->asleep);
	INIT_WORK(&i->mark_work, mark_regions_work);
	INIT_WORK(&i->ready_work, submit_ready);
	INIT_DELAYED_WORK(&i->slow_work, slow_mark_work);
}
