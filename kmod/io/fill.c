// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills.  A missing run of sub-blocks is read from the origin once, into pages
 * of our own; readers get a copy, the same pages are written to the slot, and
 * only then do the valid bits appear.  A reader's or writer's own pages are
 * never the source of a cache write: it could scribble on them meanwhile, also
 * before it is told that they hold anything.
 *
 *	START ---> READING ---> FILLED ---> WRITING ---> gone
 *	(NOWAIT     readers      readers copy    ^
 *	 readers)   queue up     at once         |
 *	                        SENDING ---------+   (update: see update.c)
 *
 * A short copy is made where the origin's read completes, which may be an interrupt; one
 * of some length, too, if that is a thread, and else right after it, in a softirq.  What is
 * long, has several readers, or failed, is a completion worker's.  From FILLED on nobody
 * waits: the store (store.c) takes the fill to its slot and publishes it.
 *
 * Submissions to the origin that may wait for a request have a queue of their own: a
 * cache device that hangs must not keep the origin's data from its readers.
 *
 * A fill is on its stripe's list from its start until it is published or
 * dropped; under the stripe lock at most one fill covers a sub-block, and a
 * sub-block is missing, being filled or valid: that is the single flight.
 * Fills of disjoint runs of one block run in parallel and share the slot.
 *
 * A write that overlaps marks the fill stale there: see doc/writing.md.
 */
#include <linux/blk-cgroup.h>

#include "cache.h"
#include "io/verify.h"
#include "core/compat.h"
#include "io/fill.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "io/read.h"
#include "io/fill_writer.h"
#include "core/tracepoints.h"
#include "io/writethrough.h"
#include "prefetch/readahead.h"

/* A fill is at most this long: the most that order-0 pages let one bio hold. */
#define FILL_BYTES_MAX	((u32)BIO_MAX_VECS << PAGE_SHIFT)

/* Bytes that are copied where the origin's read completes, which may be an interrupt: a few
 * microseconds.
 */
#define INLINE_MAX	(32U << 10)

/* Bytes that are copied without a worker: 10 to 20 microseconds, in which this processor takes
 * interrupts but runs nobody else.  Of copies that come together softirqs make ten at most before
 * they look at what else there is, and leave the rest to their thread if that takes long.
 */
#define SOFTIRQ_MAX	(128U << 10)

static void fill_work(struct work_struct *work);

/**
 * nc_fill_span_bytes() - how long a span is on the origin
 * @c: live cache
 * @span: sub-blocks
 *
 * Return: bytes; less than whole sub-blocks where the origin ends.
 */
u32 nc_fill_span_bytes(const struct nc_cache *c, const struct nc_span *span)
{
	u64 start = (span->block << c->block_shift) +
		    ((u64)span->first << c->sub_shift);
	u64 sectors = (u64)(span->last - span->first + 1) << c->sub_shift;

	return min(sectors, (c->geo.origin_size >> SECTOR_SHIFT) - start)
	       << SECTOR_SHIFT;
}

/**
 * nc_fill_bytes_max() - the longest fill
 * @c: live cache
 * @half: of those that leave half of the memory to reads
 *
 * Return: bytes: what fits into one bio, and half of the memory that it may take.
 */
u32 nc_fill_bytes_max(const struct nc_cache *c, bool half)
{
	return min_t(u64, FILL_BYTES_MAX, (READ_ONCE(c->fill_memory_max) >> half) / 2);
}

/**
 * nc_fill_shorten() - no longer than one fill, or check, of reads may be
 * @c: live cache
 * @span: sub-blocks
 * @half: of those that leave half of the memory to reads
 */
void nc_fill_shorten(const struct nc_cache *c, struct nc_span *span, bool half)
{
	u32 count = nc_fill_bytes_max(c, half) >> (c->sub_shift + SECTOR_SHIFT);

	span->last = min(span->last, span->first + max(count, 1U) - 1);
}

/**
 * nc_fill_free() - free a fill that is on no list
 * @c: live cache
 * @f: fill
 *
 * Context: any but hard interrupts.
 */
void nc_fill_free(struct nc_cache *c, struct nc_fill *f)
{
	nc_pages_free(c, f, &f->pages);
}

/**
 * nc_fill_alloc() - memory for a fill
 * @t: target
 * @sector: first sector on the origin
 * @bytes: length, at most nc_fill_bytes_max() or one sub-block
 * @half: writes and prefetches leave half of the memory to reads
 *
 * Context: map; does not sleep.
 * Return: a fill with @bytes of pages, on no list; NULL when there is no memory
 * within the cap.
 */
struct nc_fill *nc_fill_alloc(struct nc_target *t, sector_t sector, u32 bytes,
			      bool half)
{
	struct nc_cache *c = t->cache;
	u32 room = bytes;
	struct nc_fill *f;

	/* Whole sub-blocks go to the device: zeros beyond the origin's end. */
	if ((sector << SECTOR_SHIFT) + bytes == c->geo.origin_size)
		room += -c->geo.origin_size & (c->geo.subblock_size - 1);
	f = nc_pages_alloc(c, offsetof(struct nc_fill, pages), room,
			   READ_ONCE(c->fill_memory_max) >> half, room != bytes);
	if (!f)
		return NULL;
	f->target = t;
	f->sector = sector;
	f->bytes = bytes;
	f->stale = 0;
	f->dropped = 0;
	f->update = false;
	f->writer = NULL;
	f->ahead = false;
	f->job = NULL;
	f->since = 0;
	f->skip = 0;
	refcount_set(&f->refs, 1);
	f->waiters = NULL;
	INIT_WORK(&f->work, fill_work);
	return f;
}

/*
 * Drop a reference.  The last one is dropped by a worker or the store's thread, which
 * nc_fill_drain() flushes, or by a reader whose bio is not yet complete: the
 * cache outlives the wake-up either way.
 */
static void fill_put(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;

	if (!refcount_dec_and_test(&f->refs))
		return;
	nc_fill_free(c, f);
	if (atomic_dec_and_test(&c->fills))
		wake_up(&c->fill_idle);
}

/* Copy what @bio asks for out of the fill, which covers it. */
static void copy_to_reader(struct nc_fill *f, struct bio *bio)
{
	nc_pages_copy(&f->pages, f->bytes,
		      (bio->bi_iter.bi_sector - f->sector) << SECTOR_SHIFT, bio);
}

/* Take the fill off its stripe's list, with new valid bits or without.  Returns
 * the bits that became valid.
 */
static u64 fill_unlist(struct nc_fill *f, bool publish)
{
	struct nc_cache *c = f->target->cache;
	struct nc_stripe *stripe = nc_index_stripe(&c->index, f->span.block);
	struct nc_slot *slot = &c->index.slots[f->slot];
	u64 bits = 0;

	spin_lock(&stripe->lock);
	list_del(&f->list);
	if (publish)
		bits = nc_span_bits(&f->span) & ~f->stale;
	if (bits) {
		WARN_ON_ONCE(slot->valid & bits);
		if (nc_sums_present(&c->sums))
			nc_sums_dirty(&c->sums, f->slot);
		WRITE_ONCE(slot->valid, slot->valid | bits);
		atomic64_add(hweight64(bits), &c->valid_subblocks);
		nc_meta_dirty(c, f->slot);
	}
	if (f->ahead)
		nc_ahead_came(c, slot);
	spin_unlock(&stripe->lock);
	return bits;
}

/* Off the list with @bits published: account it and let go. */
static void fill_done(struct nc_fill *f, u64 bits, int error)
{
	struct nc_cache *c = f->target->cache;

	if (f->stale)
		nc_count(c, FILLS_STALE);
	if (f->update)
		nc_update_count(c, f, bits);
	else if (bits)
		nc_count(c, FILLS);
	trace_nearcache_fill_done(c->dm_devt, f->sector,
				  f->bytes >> SECTOR_SHIFT, f->slot, !!bits,
				  error);
	if (f->job)
		nc_prefetch_done(c, f, bits, error);
	else if (f->ahead)
		nc_window_done(c, f, bits, error);
	bio_uninit(&f->bio);
	fill_put(f);
}

/* Nobody waits any more: who comes now copies at once.  What the origin brought is seen by
 * who sees this, see nc_fill_wait().
 */
static struct bio *close_waiters(struct nc_fill *f)
{
	return xchg(&f->waiters, NC_FILL_READY);
}

static struct bio *next_waiter(struct bio **waiters)
{
	struct bio *bio = *waiters;

	if (bio) {
		*waiters = bio->bi_next;
		bio->bi_next = NULL;
	}
	return bio;
}

/* The origin failed the read: each reader asks it again by itself, because the
 * fill is wider than what a reader asked for, and gets the origin's own answer.
 */
static void fill_read_failed(struct nc_fill *f)
{
	struct nc_target *t = f->target;
	int error = blk_status_to_errno(f->bio.bi_status);
	struct bio *bio, *waiters;

	nc_count(t->cache, FILLS_FAILED_ORIGIN);
	fill_unlist(f, false);
	/* Off the list, nobody can join any more. */
	waiters = close_waiters(f);
	while ((bio = next_waiter(&waiters)))
		nc_read_resubmit(t, bio);
	fill_done(f, 0, error);
}

/* Not yet charged to anybody. */
static void init_bio(struct nc_fill *f, struct block_device *bdev, blk_opf_t opf,
		     sector_t sector, bio_end_io_t *end_io)
{
	bio_init(&f->bio, NULL, f->pages.vecs, f->pages.count, opf);
	f->bio.bi_bdev = bdev;
	f->bio.bi_vcnt = f->pages.count;
	f->bio.bi_iter.bi_sector = sector;
	f->bio.bi_iter.bi_size = f->bytes;
	f->bio.bi_end_io = end_io;
	f->bio.bi_private = f;
}

/**
 * nc_fill_init_bio() - point the fill's bio at a device
 * @f: fill; its bio is not initialised
 * @bdev: device
 * @opf: operation and flags
 * @sector: on @bdev
 * @end_io: what follows
 *
 * The bio has the pages of the whole fill and is charged to the caller's cgroup.
 */
void nc_fill_init_bio(struct nc_fill *f, struct block_device *bdev,
		      blk_opf_t opf, sector_t sector, bio_end_io_t *end_io)
{
	init_bio(f, bdev, opf, sector, end_io);
	bio_associate_blkg(&f->bio);
}

/* A fill serves everybody: it must not wait for the I/O limits of the group whose
 * read started it.  Limits on the dm device still hold.
 */
static void init_bio_for_everybody(struct nc_fill *f, struct block_device *bdev, blk_opf_t opf,
				   sector_t sector, bio_end_io_t *end_io)
{
	init_bio(f, bdev, opf, sector, end_io);
	bio_associate_blkg_from_css(&f->bio, blkcg_root_css);
}

/* The origin's data is here. */
static void fill_read_done(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;
	struct bio *bio, *waiters;

	nc_count_add(c, FILL_ORIGIN_BYTES, f->bytes);
	nc_ranges_count_origin(c, f->sector, f->bytes);
	WRITE_ONCE(f->state, NC_FILL_FILLED);
	waiters = close_waiters(f);
	while ((bio = next_waiter(&waiters))) {
		copy_to_reader(f, bio);
		bio_endio(bio);
	}
	nc_store_filled(&c->store, &f->bio);
}

/* Completion worker: the same, or the origin has failed. */
static void fill_read_over(struct nc_fill *f)
{
	if (f->since)
		nc_prefetch_read_done(f->target->cache, f);
	if (f->bio.bi_status)
		fill_read_failed(f);
	else
		fill_read_done(f);
}

/* Is there so little to copy that no worker is to be woken for it?  Who joins just now may add to
 * it.
 */
static bool is_short(const struct nc_fill *f)
{
	const struct bio *first = READ_ONCE(f->waiters);

	return f->bytes <= SOFTIRQ_MAX && !(first && first->bi_next);
}

static void over_to_worker(struct nc_fill *f)
{
	INIT_WORK(&f->work, fill_work);
	queue_work(f->target->cache->wq, &f->work);
}

/* In a softirq.  Readers may have joined in between.  The cache waits for its fills, and this one
 * is the store's, if not gone, when it returns: nothing of either is touched then; and the module
 * does not go before a grace period of RCU, which a softirq holds up.
 */
static void copy_work(struct work_struct *work)
{
	struct nc_fill *f = container_of(work, struct nc_fill, work);

	if (likely(is_short(f)))
		fill_read_done(f);
	else
		over_to_worker(f);
}

/* Right after this, if the kernel can.  The work is one of its own: softirqs do this one, and
 * never any other of the fill's.  Who submitted the read has no use for the fill any more.
 */
static void copy_soon(struct nc_fill *f)
{
	if (!nc_bh_wq) {
		over_to_worker(f);
		return;
	}
	INIT_WORK(&f->work, copy_work);
	queue_work(nc_bh_wq, &f->work);
}

/* The origin answered. */
static void read_end_io(struct bio *bio)
{
	struct nc_fill *f = bio->bi_private;

	if (unlikely(bio->bi_status || f->since || !is_short(f)))
		over_to_worker(f);
	else if (f->bytes > INLINE_MAX && (!in_task() || irqs_disabled()))
		copy_soon(f);
	else
		fill_read_done(f);
}

/* The cache device did.  An update leaves sub-blocks invalid until it is published: it does not
 * wait its turn in the store.
 */
static void write_end_io(struct bio *bio)
{
	struct nc_fill *f = bio->bi_private;

	if (f->update)
		queue_work(f->target->cache->wq, &f->work);
	else
		nc_store_written(&f->target->cache->store, bio);
}

/**
 * nc_fill_write() - the same pages go to the slot
 * @f: fill that has its data
 *
 * Unless the device is given up or all of it was written meanwhile.
 *
 * Context: process; may wait for a request to the cache device.
 */
void nc_fill_write(struct nc_fill *f)
{
	struct nc_target *t = f->target;
	struct nc_cache *c = t->cache;
	sector_t sector = f->sector + (f->skip >> SECTOR_SHIFT);
	struct block_device *bdev;
	sector_t place;

	if (READ_ONCE(c->state) != NEARCACHE_NORMAL ||
	    !(nc_span_bits(&f->span) & ~READ_ONCE(f->stale))) {
		fill_unlist(f, false);
		fill_done(f, 0, 0);
		return;
	}
	nc_check_fill(f);
	WRITE_ONCE(f->state, NC_FILL_WRITING);
	bio_uninit(&f->bio);
	bdev = nc_members_place(t, f->slot, &place);
	init_bio_for_everybody(f, bdev, REQ_OP_WRITE, place + (sector & c->block_mask),
			       write_end_io);
	/* Up to the end of a sub-block the pages hold more than f->bytes. */
	f->bio.bi_iter.bi_size = f->skip + f->cache_bytes;
	bvec_iter_advance(f->pages.vecs, &f->bio.bi_iter, f->skip);
	submit_bio(&f->bio);
}

/**
 * nc_fill_publish() - the cache device has the data, or has not
 * @f: fill that was written
 *
 * Context: process.
 */
void nc_fill_publish(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;
	int error = blk_status_to_errno(f->bio.bi_status);

	if (error) {
		nc_count(c, FILLS_FAILED_CACHE);
		nc_health_error(c, f->bio.bi_bdev, "fill");
	} else if (!f->update) {
		nc_count_add(c, FILL_CACHE_BYTES, f->cache_bytes);
	}
	fill_done(f, fill_unlist(f, !error), error);
}

/* cache_wq: the origin has, or has not, what an update is to bring. */
static void update_sent(struct nc_fill *f)
{
	int error = blk_status_to_errno(f->bio.bi_status);

	if (!error) {
		nc_fill_write(f);
		return;
	}
	fill_unlist(f, false);
	fill_done(f, 0, error);
}

static void submit_read(struct nc_fill *f)
{
	WRITE_ONCE(f->state, NC_FILL_READING);
	init_bio_for_everybody(f, f->target->origin->bdev, REQ_OP_READ, f->sector, read_end_io);
	if (unlikely(nc_prefetch_any(&f->target->cache->prefetch)))
		nc_prefetch_read_sent(f->target->cache, f);
	submit_bio_noacct(&f->bio);
}

static void fill_work(struct work_struct *work)
{
	struct nc_fill *f = container_of(work, struct nc_fill, work);

	switch (f->state) {
	case NC_FILL_START:
		submit_read(f);
		break;
	case NC_FILL_READING:
		fill_read_over(f);
		break;
	case NC_FILL_SENDING:
		update_sent(f);
		break;
	case NC_FILL_FILLED:
		/* The store's. */
		break;
	case NC_FILL_WRITING:
		nc_fill_publish(f);
		break;
	}
}

/**
 * nc_fill_list() - a fill is under way from now on
 * @f: fill; span, slot, sector and bytes are set
 * @stripe: of the block, locked
 */
void nc_fill_list(struct nc_fill *f, struct nc_stripe *stripe)
{
	lockdep_assert_held(&stripe->lock);
	atomic_inc(&f->target->cache->fills);
	list_add(&f->list, &stripe->fills);
}

/**
 * nc_fill_start() - read from the origin what a fill is to bring
 * @f: listed fill in NC_FILL_START
 * @nowait: the reader must not sleep
 *
 * Submitting may have to wait for a request: not on a NOWAIT reader's back.
 *
 * Context: map.
 */
void nc_fill_start(struct nc_fill *f, bool nowait)
{
	struct nc_cache *c = f->target->cache;

	trace_nearcache_fill_start(c->dm_devt, f->sector,
				   f->bytes >> SECTOR_SHIFT, f->slot);
	if (nowait)
		queue_work(c->origin_wq, &f->work);
	else
		submit_read(f);
}

/**
 * nc_fill_wait() - wait for a fill's data
 * @f: listed fill; the stripe is locked
 * @bio: read, completed when the data is here
 *
 * Return: false if it is here already, and then can be copied from.
 */
bool nc_fill_wait(struct nc_fill *f, struct bio *bio)
{
	struct bio *first;

	do {
		/* Pairs with the exchange in close_waiters(): the data is read after this.  A
		 * failed exchange below orders nothing, so it is loaded anew.
		 */
		first = smp_load_acquire(&f->waiters);
		if (first == NC_FILL_READY)
			return false;
		bio->bi_next = first;
	} while (cmpxchg(&f->waiters, first, bio) != first);
	return true;
}

/**
 * nc_fill_serve() - complete a read from a fill that has the data
 * @f: fill, at least NC_FILL_FILLED, that covers the read; the caller's
 *	reference is dropped
 * @bio: read
 */
void nc_fill_serve(struct nc_fill *f, struct bio *bio)
{
	copy_to_reader(f, bio);
	/* Before the bio completes: see fill_put(). */
	fill_put(f);
	bio_endio(bio);
}

/**
 * nc_fill_find() - the fill that covers the start of a span
 * @stripe: the block's stripe, locked
 * @span: sub-blocks; without a fill at their start they are shortened to end
 *	before the next one
 *
 * Return: fill or NULL.
 */
struct nc_fill *nc_fill_find(const struct nc_stripe *stripe,
			     struct nc_span *span)
{
	struct nc_fill *f;

	lockdep_assert_held(&stripe->lock);
	list_for_each_entry(f, &stripe->fills, list) {
		if (f->span.block != span->block)
			continue;
		if (span->first >= f->span.first && span->first <= f->span.last)
			return f;
		if (f->span.first > span->first && f->span.first <= span->last)
			span->last = f->span.first - 1;
	}
	return NULL;
}

/**
 * nc_fill_busy() - is anything filling these sub-blocks?
 * @stripe: the block's stripe, locked
 * @span: sub-blocks
 */
bool nc_fill_busy(const struct nc_stripe *stripe, const struct nc_span *span)
{
	struct nc_span rest = *span;

	return nc_fill_find(stripe, &rest) || rest.last != span->last;
}

/**
 * nc_fill_mark_stale() - these sub-blocks are being changed on the origin
 * @stripe: the block's stripe, locked
 * @block: origin block
 * @bits: sub-blocks
 *
 * What fills bring for them is not published.
 */
void nc_fill_mark_stale(const struct nc_stripe *stripe, u64 block, u64 bits)
{
	struct nc_fill *f;

	lockdep_assert_held(&stripe->lock);
	list_for_each_entry(f, &stripe->fills, list)
		if (f->span.block == block)
			WRITE_ONCE(f->stale, f->stale |
				   (bits & nc_span_bits(&f->span)));
}

/**
 * nc_fill_drain() - wait until no fill is under way
 * @c: live cache; no new read arrives
 *
 * Context: may sleep.
 */
void nc_fill_drain(struct nc_cache *c)
{
	nc_store_hurry(&c->store, true);
	wait_event(c->fill_idle, !atomic_read(&c->fills));
	nc_store_hurry(&c->store, false);
	flush_workqueue(c->wq);
	flush_workqueue(c->cache_wq);
	nc_store_flush(&c->store);
}
