// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fill engine.  A fill reads a missing run of sub-blocks from the origin once, into pages
 * that the cache owns.  Readers get a copy, the fill writer (fill_writer.c) writes the same
 * pages to the slot, and only then are the valid bits set.  The pages of a reader's or
 * writer's bio are never the source of a write to the cache device, because user space may
 * modify them at any time, even before the bio completes.
 *
 *	START ---> READING ---> FILLED ---> WRITING ---> gone
 *	(NOWAIT     readers      readers copy    ^
 *	 readers)   queue up     at once         |
 *	                        SENDING ---------+   (update: see writethrough.c)
 *
 * The completion of the origin read copies to the reader.  It copies up to INLINE_MAX bytes even
 * in an interrupt.  It copies up to SOFTIRQ_MAX bytes if it runs in a thread, otherwise it leaves
 * them to a softirq right after the interrupt.  A completion worker handles longer copies, several
 * readers, and errors.  From FILLED on no reader waits.
 *
 * If a worker has to submit to the origin, it runs on nc_workers.origin, which never waits for the
 * cache device: so a cache device that hangs cannot delay the origin's data.
 *
 * A fill is on the list of its bucket lock from its start until it is published or dropped.
 * Under that lock at most one fill covers a sub-block, and a sub-block is missing, being
 * filled or valid.  So concurrent misses cause one origin read.  Fills of disjoint runs of one
 * block run in parallel and share the slot.  A write that overlaps a fill marks the overlapped
 * sub-blocks stale in the fill, under the same lock: see doc/writing.md.
 */
#include <linux/blk-cgroup.h>
#include <linux/ktime.h>

#include "cache.h"
#include "core/compat.h"
#include "io/fill.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "io/fill_writer.h"
#include "core/tracepoints.h"

/* Longest fill: the most that a bio of order-0 pages can hold. */
#define FILL_BYTES_MAX	((u32)BIO_MAX_VECS << PAGE_SHIFT)

/* A sub-block of the largest block fits into a fill. */
static_assert(NEARCACHE_BLOCK_MAX / NEARCACHE_SUBBLOCKS_MAX <= FILL_BYTES_MAX);

/* Longest copy, in bytes, in the completion of the origin read even in an interrupt: a few us. */
#define INLINE_MAX	(32U << 10)

/* Longest copy, in bytes, in a softirq: 10 to 20 microseconds, during which this processor takes
 * interrupts but runs no thread.  When many fills complete together, softirq processing makes at
 * most ten of these copies before it serves other softirqs, and defers to a thread after 2 ms.
 */
#define SOFTIRQ_MAX	(128U << 10)

/* Jiffies that a hibernation waits for writes to slots. */
#define FINISH_TIME	(10 * HZ)

static void fill_work(struct work_struct *work);

/* Bytes of @span that the origin has; the origin may end inside the last sub-block of @span. */
u32 nc_fill_span_bytes(const struct nc_cache *c, const struct nc_span *span)
{
	u64 start = (span->block << c->hot.block_shift) +
		    ((u64)span->first << c->hot.sub_shift);
	u64 sectors = (u64)(span->last - span->first + 1) << c->hot.sub_shift;

	return min(sectors, (c->geo.origin_size >> SECTOR_SHIFT) - start)
	       << SECTOR_SHIFT;
}

/* Longest fill in bytes: one bio, but at most half of the memory cap, so that two fills fit.
 * @half: use half of the cap, for writes and prefetches, which leave the other half to reads.
 */
u32 nc_fill_bytes_max(const struct nc_cache *c, bool half)
{
	return min_t(u64, FILL_BYTES_MAX, (READ_ONCE(c->fills.memory_max) >> half) / 2);
}

/* Shorten @span to nc_fill_bytes_max(c, @half), which limits fills and checks of cached data, but
 * not below one sub-block.
 */
void nc_fill_shorten(const struct nc_cache *c, struct nc_span *span, bool half)
{
	u32 count = nc_fill_bytes_max(c, half) >> (c->hot.sub_shift + SECTOR_SHIFT);

	span->last = min(span->last, span->first + max(count, 1U) - 1);
}

/* Free a fill that is on no list.  Context: any but hard interrupts. */
void nc_fill_free(struct nc_cache *c, struct nc_fill *f)
{
	nc_pages_free(c, f, &f->pages);
}

/**
 * nc_fill_alloc() - allocate a fill and its pages
 * @t: table line for which the fill runs
 * @ops: kind of fill
 * @sector: first sector on the origin
 * @bytes: length, at most nc_fill_bytes_max() or one sub-block
 * @half: for writes and prefetches, which leave half of the memory cap to reads
 *
 * Context: map; does not sleep.
 * Return: a fill on no list, or NULL if no memory is free or the cap is reached.
 */
struct nc_fill *nc_fill_alloc(struct nc_target *t, const struct nc_fill_ops *ops, sector_t sector,
			      u32 bytes, bool half)
{
	struct nc_cache *c = t->cache;
	u32 room = bytes;
	struct nc_fill *f;

	/* The slot gets whole sub-blocks, with zeros behind the end of the origin. */
	if ((sector << SECTOR_SHIFT) + bytes == c->geo.origin_size)
		room += -c->geo.origin_size & (c->geo.subblock_size - 1);
	f = nc_pages_alloc(c, offsetof(struct nc_fill, pages), room,
			   READ_ONCE(c->fills.memory_max) >> half, room != bytes);
	if (!f)
		return NULL;
	f->target = t;
	f->ops = ops;
	f->owner = NULL;
	f->peer = NULL;
	f->sector = sector;
	f->bytes = bytes;
	f->stale = 0;
	f->dropped = 0;
	f->writer = NULL;
	f->since = 0;
	f->skip = 0;
	refcount_set(&f->refs, 1);
	f->waiters = NULL;
	INIT_WORK(&f->work, fill_work);
	return f;
}

/*
 * Drop a reference.  The cache is not freed before this function has woken nc_fills.idle: the last
 * reference is dropped by a worker or the fill writer, which nc_fill_drain() flushes, or by a
 * reader, whose bio is not yet complete.
 */
static void fill_put(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;

	if (!refcount_dec_and_test(&f->refs))
		return;
	nc_fill_free(c, f);
	if (atomic_dec_and_test(&c->fills.count))
		wake_up(&c->fills.idle);
}

/* Copy the data that @bio reads from the fill, which covers the whole read. */
static void copy_to_reader(struct nc_fill *f, struct bio *bio)
{
	nc_pages_copy(&f->pages, f->bytes,
		      (bio->bi_iter.bi_sector - f->sector) << SECTOR_SHIFT, bio);
}

/* Is a fill of a prefetch of @block in the list?  Context: @bucket->lock is held. */
static bool prefetch_listed(const struct nc_bucket_lock *bucket, u64 block)
{
	struct nc_fill *f;

	lockdep_assert_held(&bucket->lock);
	list_for_each_entry(f, &bucket->fills, entry.list)
		if (f->entry.span.block == block && f->ops->ahead)
			return true;
	return false;
}

/* Remove the fill from its bucket lock's list, and set the valid bits if @publish.
 * Returns the bits that became valid.
 */
static u64 fill_unlist(struct nc_fill *f, bool publish)
{
	struct nc_cache *c = f->target->cache;
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, f->entry.span.block);
	struct nc_slot *slot = &c->index.slots[f->slot];
	u64 bits = 0;

	spin_lock(&bucket->lock);
	list_del(&f->entry.list);
	if (publish)
		bits = nc_span_bits(&f->entry.span) & ~f->stale;
	if (bits) {
		WARN_ON_ONCE(slot->valid & bits);
		if (nc_sums_present(&c->sums))
			nc_sums_dirty(&c->sums, f->slot);
		WRITE_ONCE(slot->valid, slot->valid | bits);
		atomic64_add(hweight64(bits), &c->slots.valid_subblocks);
		nc_table_dirty(c, f->slot);
	}
	/* Writes made all data of the fill stale.  After an error the plan still counts the block
	 * as cached: its stream must not try a broken block again and again.
	 */
	if (!slot->valid && nc_plan_any(c) && !(nc_span_bits(&f->entry.span) & ~f->stale) &&
	    !nc_bucket_is_filling(bucket, f->entry.span.block))
		nc_plan_gone(c, f->entry.span.block);
	/* A slot without valid data keeps its mark while another prefetch brings its block. */
	if (f->ops->ahead && (slot->valid || !prefetch_listed(bucket, f->entry.span.block)))
		nc_prefetched_came(c, slot);
	spin_unlock(&bucket->lock);
	return bits;
}

/* End a fill that is off its list: report that @bits became valid, drop the fill's reference. */
static void fill_done(struct nc_fill *f, u64 bits, int error)
{
	struct nc_cache *c = f->target->cache;

	if (f->stale)
		nc_count(c, FILLS_STALE);
	trace_nearcache_fill_done(c->dev.dm_devt, f->sector,
				  f->bytes >> SECTOR_SHIFT, f->slot, !!bits,
				  error);
	f->ops->done(f, bits, error);
	bio_uninit(&f->bio);
	fill_put(f);
}

/* Take the queued readers, and let later readers copy at once.  Pairs with nc_fill_wait(): the
 * exchange is fully ordered, so a reader that loads NC_FILL_READY there also sees the data.
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

/* Handle a failed origin read.  The fill may be wider than its readers' reads, so each read is sent
 * to the origin separately and gets the status of its own sectors.
 */
static void fill_read_failed(struct nc_fill *f)
{
	struct nc_target *t = f->target;
	int error = blk_status_to_errno(f->bio.bi_status);
	struct bio *bio, *waiters;

	if (f->ops->peer)
		nc_count(t->cache, FILLS_FAILED_PEER);
	else
		nc_count(t->cache, FILLS_FAILED_ORIGIN);
	fill_unlist(f, false);
	/* The fill is off the list, so no reader can join it any more. */
	waiters = close_waiters(f);
	while ((bio = next_waiter(&waiters)))
		nc_bio_retry(t, bio);
	fill_done(f, 0, error);
}

/* Initialise the bio to cover all pages.  The caller must associate the bio with a cgroup. */
static void fill_init_bio(struct nc_fill *f, struct block_device *bdev, blk_opf_t opf,
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
 * @sector: first sector on @bdev
 * @end_io: completion; bi_private is @f
 *
 * The bio covers all pages of the fill and is charged to the caller's cgroup.
 */
void nc_fill_init_bio(struct nc_fill *f, struct block_device *bdev,
		      blk_opf_t opf, sector_t sector, bio_end_io_t *end_io)
{
	fill_init_bio(f, bdev, opf, sector, end_io);
	bio_associate_blkg(&f->bio);
}

/* As nc_fill_init_bio(), but charge the root cgroup: a fill serves readers of all cgroups and must
 * not wait for the I/O limits of the first reader's cgroup.  Limits on the dm device still apply.
 */
static void init_bio_for_everybody(struct nc_fill *f, struct block_device *bdev, blk_opf_t opf,
				   sector_t sector, bio_end_io_t *end_io)
{
	fill_init_bio(f, bdev, opf, sector, end_io);
	bio_associate_blkg_from_css(&f->bio, blkcg_root_css);
}

/* Serve the readers after the origin read succeeded; then the fill writer owns the fill. */
static void fill_read_done(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;
	struct bio *bio, *waiters;

	if (f->ops->peer) {
		nc_count_add(c, FILL_PEER_BYTES, f->bytes);
	} else {
		nc_count_add(c, FILL_ORIGIN_BYTES, f->bytes);
		nc_ranges_count_origin(c, f->sector, f->bytes);
	}
	WRITE_ONCE(f->state, NC_FILL_FILLED);
	waiters = close_waiters(f);
	while ((bio = next_waiter(&waiters))) {
		copy_to_reader(f, bio);
		bio_endio(bio);
	}
	nc_fill_writer_filled(&c->fills.writer, &f->bio);
}

/* Handle the end of the origin read, perhaps an error.  Context: a completion worker. */
static void fill_read_over(struct nc_fill *f)
{
	if (f->since)
		f->ops->read_done(f, max(ktime_get_ns() - f->since, 1ULL));
	if (f->bio.bi_status)
		fill_read_failed(f);
	else
		fill_read_done(f);
}

/* Is the copy short enough to need no worker?  A hint: another reader may join after this test and
 * lengthen the copy.
 */
static bool is_short(const struct nc_fill *f)
{
	const struct bio *first = READ_ONCE(f->waiters);

	return f->bytes <= SOFTIRQ_MAX && !(first && first->bi_next);
}

static void over_to_worker(struct nc_fill *f)
{
	INIT_WORK(&f->work, fill_work);
	queue_work(f->target->cache->workers.completion, &f->work);
}

/* Softirq: copy to readers.  More readers may have joined since the fill was queued.  Afterwards
 * the fill writer owns the fill or has freed it, and the cache may be gone: touch neither.  The
 * module stays: its removal waits for an RCU grace period, which a softirq delays.
 */
static void copy_work(struct work_struct *work)
{
	struct nc_fill *f = container_of(work, struct nc_fill, work);

	if (likely(is_short(f)))
		fill_read_done(f);
	else
		over_to_worker(f);
}

/* Run copy_work() in a softirq right after the interrupt, or in a worker if WQ_BH is missing.
 * INIT_WORK() is safe: the submitter of the origin read does not use the fill any more.
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

/* Completion of the origin read, perhaps in an interrupt: copy now, in a softirq or in a worker. */
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

/* Completion of the write to the cache device.  A worker publishes an update at once, not after the
 * fills of the fill writer: until then, reads of sub-blocks that the write invalidated miss.
 */
static void write_end_io(struct bio *bio)
{
	struct nc_fill *f = bio->bi_private;

	if (f->ops->write)
		queue_work(f->target->cache->workers.completion, &f->work);
	else
		nc_fill_writer_written(&f->target->cache->fills.writer, bio);
}

/* Checksum the data before it is written to the slot.  No lock is needed: none of these sub-blocks
 * is valid, and no other fill covers them.
 */
static void sum_fill(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;
	struct bvec_iter iter = { .bi_size = f->skip + f->cache_bytes };
	u32 sub;

	if (!nc_sums_present(&c->sums))
		return;
	bvec_iter_advance(f->pages.vecs, &iter, f->skip);
	for (sub = f->entry.span.first; sub <= f->entry.span.last; sub++)
		WRITE_ONCE(*nc_sums_of(&c->sums, f->slot, sub),
			   nc_pages_sum(f->pages.vecs, &iter, c->geo.subblock_size));
}

/* A write to a slot has ended, or will not begin.  The caller still has a reference of the fill. */
static void write_over(struct nc_cache *c)
{
	if (atomic_dec_and_test(&c->fills.writing))
		wake_up(&c->fills.idle);
}

/**
 * nc_fill_write() - write the pages of a fill to its slot
 * @f: fill that has its data
 *
 * Drops the fill instead if the cache is asleep or not in state normal, or all sub-blocks of @f are
 * stale.
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

	atomic_inc(&c->fills.writing);
	/* Count the write, then test nc_life.asleep: pairs with nc_fill_finish(). */
	smp_mb__after_atomic();
	if (READ_ONCE(c->hot.state) != NEARCACHE_NORMAL || READ_ONCE(c->life.asleep) ||
	    !(nc_span_bits(&f->entry.span) & ~READ_ONCE(f->stale))) {
		write_over(c);
		fill_unlist(f, false);
		fill_done(f, 0, 0);
		return;
	}
	sum_fill(f);
	WRITE_ONCE(f->state, NC_FILL_WRITING);
	bio_uninit(&f->bio);
	bdev = nc_members_place(t, f->slot, &place);
	init_bio_for_everybody(f, bdev, REQ_OP_WRITE, place + (sector & c->hot.block_mask),
			       write_end_io);
	/* The pages hold more than f->bytes: zeros up to the end of the last sub-block. */
	f->bio.bi_iter.bi_size = f->skip + f->cache_bytes;
	bvec_iter_advance(f->pages.vecs, &f->bio.bi_iter, f->skip);
	submit_bio(&f->bio);
}

/* End a fill after the write to the cache device; set valid bits if that succeeded.  May sleep. */
void nc_fill_publish(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;
	int error = blk_status_to_errno(f->bio.bi_status);

	if (error) {
		nc_count(c, FILLS_FAILED_CACHE);
		nc_health_error(c, f->bio.bi_bdev, "fill");
	} else if (!f->ops->write) {
		nc_count_add(c, FILL_CACHE_BYTES, f->cache_bytes);
	}
	write_over(c);
	fill_done(f, fill_unlist(f, !error), error);
}

/* nc_workers.cache: continue an update after its write to the origin, or drop it on an error. */
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
	struct block_device *from = f->ops->peer ? f->peer : f->target->origin->bdev;

	WRITE_ONCE(f->state, NC_FILL_READING);
	init_bio_for_everybody(f, from, REQ_OP_READ, f->sector, read_end_io);
	if (unlikely(READ_ONCE(f->target->cache->origin.demand.watched)) && f->ops->read_done) {
		f->since = ktime_get_ns();
		if (f->ops->sent)
			f->ops->sent(f);
	}
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
		/* Not reached: the fill writer runs this step. */
		break;
	case NC_FILL_WRITING:
		nc_fill_publish(f);
		break;
	}
}

/* Put a fill on the list of its bucket lock, which is held.  Span, slot, sector, bytes are set. */
void nc_fill_list(struct nc_fill *f, struct nc_bucket_lock *bucket)
{
	lockdep_assert_held(&bucket->lock);
	atomic_inc(&f->target->cache->fills.count);
	list_add(&f->entry.list, &bucket->fills);
}

/**
 * nc_fill_start() - submit the origin read of a fill
 * @f: listed fill in NC_FILL_START
 * @nowait: the caller must not sleep, so nc_workers.origin submits the read
 *
 * Context: map or process; without @nowait it may wait for a request to the origin.
 */
void nc_fill_start(struct nc_fill *f, bool nowait)
{
	struct nc_cache *c = f->target->cache;

	trace_nearcache_fill_start(c->dev.dm_devt, f->sector,
				   f->bytes >> SECTOR_SHIFT, f->slot);
	if (nowait)
		queue_work(c->workers.origin, &f->work);
	else
		submit_read(f);
}

/**
 * nc_fill_wait() - queue a reader for the data of a fill
 * @f: listed fill; its bucket lock is held
 * @bio: read, cut to the fill
 *
 * Return: true if the fill owns @bio now and completes @bio; false if the fill has its data
 * already: the caller copies the data.
 */
bool nc_fill_wait(struct nc_fill *f, struct bio *bio)
{
	struct bio *first;

	do {
		/* Acquire: the caller reads the data after this load.  Pairs with the exchange in
		 * close_waiters().  A failed cmpxchg() orders nothing, so each attempt loads again.
		 */
		first = smp_load_acquire(&f->waiters);
		if (first == NC_FILL_READY)
			return false;
		bio->bi_next = first;
	} while (cmpxchg(&f->waiters, first, bio) != first);
	return true;
}

/**
 * nc_fill_serve() - complete a read from a fill that has the data, and drop the caller's reference
 * @f: fill in state NC_FILL_FILLED or later, which covers the read
 * @bio: read
 */
void nc_fill_serve(struct nc_fill *f, struct bio *bio)
{
	copy_to_reader(f, bio);
	/* Before bio_endio(): fill_put() needs the cache, which stays until the bio completes. */
	fill_put(f);
	bio_endio(bio);
}

/**
 * nc_fill_find() - find the fill that covers the start of a span
 * @bucket: bucket lock of the block, held
 * @span: sub-blocks; if no fill covers their start, shortened to end before the next fill
 *
 * Return: fill or NULL.
 */
struct nc_fill *nc_fill_find(const struct nc_bucket_lock *bucket,
			     struct nc_span *span)
{
	struct nc_fill *f;

	lockdep_assert_held(&bucket->lock);
	list_for_each_entry(f, &bucket->fills, entry.list) {
		if (f->entry.span.block != span->block)
			continue;
		if (span->first >= f->entry.span.first && span->first <= f->entry.span.last)
			return f;
		if (f->entry.span.first > span->first && f->entry.span.first <= span->last)
			span->last = f->entry.span.first - 1;
	}
	return NULL;
}

/* Does a listed fill cover any sub-block of @span?  Context: @bucket->lock of the block is held. */
bool nc_fill_busy(const struct nc_bucket_lock *bucket, const struct nc_span *span)
{
	struct nc_span rest = *span;

	return nc_fill_find(bucket, &rest) || rest.last != span->last;
}

/**
 * nc_fill_mark_stale() - prevent fills from publishing sub-blocks that a write changes
 * @bucket: bucket lock of the block, held
 * @block: origin block
 * @bits: sub-blocks
 */
void nc_fill_mark_stale(const struct nc_bucket_lock *bucket, u64 block, u64 bits)
{
	struct nc_fill *f;

	lockdep_assert_held(&bucket->lock);
	list_for_each_entry(f, &bucket->fills, entry.list)
		if (f->entry.span.block == block)
			WRITE_ONCE(f->stale, f->stale |
				   (bits & nc_span_bits(&f->entry.span)));
}

/**
 * nc_fill_finish() - wait until no fill writes to a slot
 * @c: cache, asleep, so that no further fill begins to write
 *
 * Fills that read the origin do not count: a fill that gets its data while the cache sleeps is
 * dropped, and its readers are served.
 *
 * Context: may sleep.
 * Return: false if the cache device did not complete the writes within FINISH_TIME.
 */
bool nc_fill_finish(struct nc_cache *c)
{
	/* nc_life.asleep was set, then the counter is read: pairs with nc_fill_write(). */
	smp_mb();
	return wait_event_timeout(c->fills.idle, !atomic_read(&c->fills.writing), FINISH_TIME);
}

/* Wait until no fill is in flight or in use.  The caller has stopped new I/O.  May sleep. */
void nc_fill_drain(struct nc_cache *c)
{
	nc_fill_writer_hurry(&c->fills.writer, true);
	wait_event(c->fills.idle, !atomic_read(&c->fills.count));
	nc_fill_writer_hurry(&c->fills.writer, false);
	flush_workqueue(c->workers.completion);
	flush_workqueue(c->workers.cache);
	nc_fill_writer_flush(&c->fills.writer);
}
