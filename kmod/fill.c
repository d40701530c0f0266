// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills.  A missing run of sub-blocks is read from the origin once, into pages
 * of our own; readers get a copy, the same pages are written to the slot, and
 * only then do the valid bits appear.  A reader's own pages are never the
 * source of a cache write: it could scribble on them meanwhile.
 *
 *	START ---> READING ---> FILLED ---> WRITING ---> gone
 *	(NOWAIT     readers      readers copy at once
 *	 readers)   queue up
 *
 * Submissions that may wait for a request have queues of their own, one for each
 * device: a cache device that hangs must not keep the origin's data from its
 * readers.
 *
 * A fill is on its stripe's list from its start until it is published or
 * dropped; under the stripe lock at most one fill covers a sub-block, and a
 * sub-block is missing, being filled or valid: that is the single flight.
 * Fills of disjoint runs of one block run in parallel and share the slot.
 *
 * Nothing here waits for memory or for a free slot: a read that cannot be
 * filled from goes to the origin.
 */
#include <linux/blk-cgroup.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include "cache.h"
#include "fill.h"
#include "meta.h"
#include "read.h"
#include "reclaim.h"
#include "trace.h"

/* A fill is at most this long: the most that order-0 pages let one bio hold. */
#define FILL_BYTES_MAX	((u32)BIO_MAX_VECS << PAGE_SHIFT)
/* Chunks of up to 32 KiB are cheap to get and make a bio short. */
#define CHUNK_ORDER	3
#define FILL_GFP	(GFP_NOWAIT | __GFP_NOWARN | __GFP_NORETRY | __GFP_COMP)

enum fill_state {
	FILL_START,	/* origin_wq is to submit the read */
	FILL_READING,
	FILL_FILLED,	/* the data is here, cache_wq is to submit the write */
	FILL_WRITING,
};

/**
 * struct nc_fill - a fill under way
 * @list: in nc_stripe.fills; stripe lock
 * @target: table line that started it
 * @span: what it fills; constant once on the list
 * @slot: where to; the slot holds the block and cannot be evicted meanwhile
 * @state: enum fill_state; FILLED is set under the stripe lock, the steps before
 *	and after it mean the same to readers
 * @refs: the fill's own, and one of each reader that copies once FILLED
 * @waiters: readers while START or READING; stripe lock
 * @sector: origin sector of the first byte
 * @bytes: to read from the origin
 * @memory: bytes accounted in nc_cache.fill_memory
 * @work: runs fill_work()
 * @bio: the read, then the write
 * @vec_count: chunks
 * @vecs: chunks of pages; hold @bytes rounded up to the sub-block
 */
struct nc_fill {
	struct list_head list;
	struct nc_target *target;
	struct nc_span span;
	u32 slot;
	enum fill_state state;
	refcount_t refs;
	struct bio_list waiters;
	sector_t sector;
	u32 bytes;
	u32 memory;
	struct work_struct work;
	struct bio bio;
	unsigned short vec_count;
	struct bio_vec vecs[];
};

static void fill_work(struct work_struct *work);

/* Bytes that @span has on the origin, whose last block may be short. */
static u32 span_bytes(const struct nc_cache *c, const struct nc_span *span)
{
	u64 start = (span->block << c->block_shift) +
		    ((u64)span->first << c->sub_shift);
	u64 sectors = (u64)(span->last - span->first + 1) << c->sub_shift;

	return min(sectors, (c->geo.origin_size >> SECTOR_SHIFT) - start)
	       << SECTOR_SHIFT;
}

/* What goes to the cache device: whole sub-blocks. */
static u32 padded(const struct nc_cache *c, u32 bytes)
{
	return round_up(bytes, c->geo.subblock_size);
}

static bool reserve_memory(struct nc_cache *c, u32 bytes)
{
	s64 held = atomic64_add_return(bytes, &c->fill_memory);
	s64 peak = atomic64_read(&c->fill_memory_peak);

	if (held > (s64)c->fill_memory_max) {
		atomic64_sub(bytes, &c->fill_memory);
		return false;
	}
	while (held > peak &&
	       !atomic64_try_cmpxchg(&c->fill_memory_peak, &peak, held))
		;
	return true;
}

static void fill_free(struct nc_cache *c, struct nc_fill *f)
{
	unsigned int i;

	for (i = 0; i < f->vec_count; i++)
		__free_pages(f->vecs[i].bv_page, get_order(f->vecs[i].bv_len));
	atomic64_sub(f->memory, &c->fill_memory);
	kfree(f);
}

/* Chunks are whole powers of two of pages, so that get_order() of a length
 * gives back the order; only the last one may end inside its page.
 */
static bool fill_alloc_pages(struct nc_fill *f, u32 bytes, gfp_t gfp)
{
	while (bytes) {
		int order = min_t(int, CHUNK_ORDER,
				  ilog2(DIV_ROUND_UP(bytes, PAGE_SIZE)));
		struct page *page = alloc_pages(gfp, order);

		if (!page && order) {
			order = 0;
			page = alloc_pages(gfp, 0);
		}
		if (!page)
			return false;
		bvec_set_page(&f->vecs[f->vec_count], page,
			      min_t(u32, bytes, PAGE_SIZE << order), 0);
		bytes -= f->vecs[f->vec_count++].bv_len;
	}
	return true;
}

/* Memory for a fill of @span; its place is given by fill_start(). */
static struct nc_fill *fill_alloc(struct nc_target *t,
				  const struct nc_span *span)
{
	struct nc_cache *c = t->cache;
	u32 wanted = span_bytes(c, span);
	u32 bytes = padded(c, wanted);
	u32 pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	gfp_t gfp = FILL_GFP;
	struct nc_fill *f;
	u32 memory;

	/* Beyond the origin's end nothing but zeros goes to the device. */
	if (bytes != wanted)
		gfp |= __GFP_ZERO;
	memory = pages * PAGE_SIZE + struct_size(f, vecs, pages);
	if (!reserve_memory(c, memory))
		return NULL;
	f = kmalloc(struct_size(f, vecs, pages), GFP_NOWAIT | __GFP_NOWARN);
	if (!f) {
		atomic64_sub(memory, &c->fill_memory);
		return NULL;
	}
	f->target = t;
	f->span = *span;
	f->memory = memory;
	f->vec_count = 0;
	if (!fill_alloc_pages(f, bytes, gfp)) {
		fill_free(c, f);
		return NULL;
	}
	refcount_set(&f->refs, 1);
	bio_list_init(&f->waiters);
	INIT_WORK(&f->work, fill_work);
	return f;
}

/*
 * Drop a reference.  The last one is dropped by a worker, whose queue
 * nc_fill_drain() flushes, or by a reader whose bio is not yet complete: the
 * cache outlives the wake-up either way.
 */
static void fill_put(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;

	if (!refcount_dec_and_test(&f->refs))
		return;
	fill_free(c, f);
	if (atomic_dec_and_test(&c->fills))
		wake_up(&c->fill_idle);
}

/* Copy what @bio asks for out of the fill, which covers it.  The chunks are
 * contiguous low memory; the reader's pages need not be.
 */
static void copy_to_reader(struct nc_fill *f, struct bio *bio)
{
	struct bvec_iter from = { .bi_size = f->bytes };
	struct bvec_iter iter;
	struct bio_vec to;

	bvec_iter_advance(f->vecs, &from,
			  (bio->bi_iter.bi_sector - f->sector) << SECTOR_SHIFT);
	bio_for_each_segment(to, bio, iter) {
		char *dst = bvec_kmap_local(&to);
		u32 copied = 0;

		while (copied < to.bv_len) {
			struct bio_vec src = mp_bvec_iter_bvec(f->vecs, from);
			u32 n = min(src.bv_len, to.bv_len - copied);

			memcpy(dst + copied,
			       page_address(src.bv_page) + src.bv_offset, n);
			bvec_iter_advance(f->vecs, &from, n);
			copied += n;
		}
		flush_dcache_page(to.bv_page);
		kunmap_local(dst);
	}
}

/* Take the fill off its stripe's list, with new valid bits or without. */
static void fill_unlist(struct nc_fill *f, bool publish)
{
	struct nc_cache *c = f->target->cache;
	struct nc_stripe *stripe = nc_index_stripe(&c->index, f->span.block);
	struct nc_slot *slot = &c->index.slots[f->slot];
	u64 bits = GENMASK_ULL(f->span.last, f->span.first);

	spin_lock(&stripe->lock);
	list_del(&f->list);
	if (publish) {
		WARN_ON_ONCE(slot->valid & bits);
		WRITE_ONCE(slot->valid, slot->valid | bits);
	}
	spin_unlock(&stripe->lock);
	if (publish) {
		atomic64_add(hweight64(bits), &c->valid_subblocks);
		nc_meta_dirty(c->meta, f->slot);
	}
}

static void fill_done(struct nc_fill *f, bool published, int error)
{
	struct nc_cache *c = f->target->cache;

	trace_nearcache_fill_done(c->dm_devt, f->sector,
				  f->bytes >> SECTOR_SHIFT, f->slot, published,
				  error);
	bio_uninit(&f->bio);
	fill_put(f);
}

/* The origin failed the read: each reader asks it again by itself, because the
 * fill is wider than what a reader asked for, and gets the origin's own answer.
 */
static void fill_read_failed(struct nc_fill *f)
{
	struct nc_target *t = f->target;
	struct nc_cache *c = t->cache;
	int error = blk_status_to_errno(f->bio.bi_status);
	struct bio_list waiters;
	struct bio *bio;

	nc_count(c, FILLS_FAILED_ORIGIN);
	fill_unlist(f, false);
	/* Off the list, nobody can join any more. */
	waiters = f->waiters;
	while ((bio = bio_list_pop(&waiters)))
		nc_read_resubmit(t, bio);
	fill_done(f, false, error);
}

/* Both the read and the write end here: what follows may take long. */
static void fill_end_io(struct bio *bio)
{
	struct nc_fill *f = bio->bi_private;

	queue_work(f->target->cache->wq, &f->work);
}

static void fill_init_bio(struct nc_fill *f, struct block_device *bdev,
			  blk_opf_t opf, sector_t sector, u32 bytes)
{
	bio_init(&f->bio, bdev, f->vecs, f->vec_count, opf);
	/* A fill serves everybody: it must not wait for the I/O limits of the
	 * group whose read started it.  Limits on the dm device still hold.
	 */
	bio_associate_blkg_from_css(&f->bio, blkcg_root_css);
	f->bio.bi_vcnt = f->vec_count;
	f->bio.bi_iter.bi_sector = sector;
	f->bio.bi_iter.bi_size = bytes;
	f->bio.bi_end_io = fill_end_io;
	f->bio.bi_private = f;
}

/* Completion worker: the origin's data is here. */
static void fill_read_done(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;
	struct nc_stripe *stripe = nc_index_stripe(&c->index, f->span.block);
	struct bio_list waiters;
	struct bio *bio;

	if (f->bio.bi_status) {
		fill_read_failed(f);
		return;
	}
	nc_count_add(c, FILL_ORIGIN_BYTES, f->bytes);
	spin_lock(&stripe->lock);
	f->state = FILL_FILLED;
	waiters = f->waiters;
	spin_unlock(&stripe->lock);
	while ((bio = bio_list_pop(&waiters))) {
		copy_to_reader(f, bio);
		bio_endio(bio);
	}
	queue_work(c->cache_wq, &f->work);
}

/* cache_wq: the same pages go to the slot, unless the device is given up. */
static void submit_write(struct nc_fill *f)
{
	struct nc_target *t = f->target;
	struct nc_cache *c = t->cache;

	if (READ_ONCE(c->state) != NEARCACHE_NORMAL) {
		fill_unlist(f, false);
		fill_done(f, false, 0);
		return;
	}
	WRITE_ONCE(f->state, FILL_WRITING);
	bio_uninit(&f->bio);
	fill_init_bio(f, t->dev->bdev, REQ_OP_WRITE,
		      c->data_start + ((sector_t)f->slot << c->block_shift) +
			      ((sector_t)f->span.first << c->sub_shift),
		      padded(c, f->bytes));
	submit_bio(&f->bio);
}

/* Completion worker: the cache device has the data, or has not. */
static void fill_write_done(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;
	int error = blk_status_to_errno(f->bio.bi_status);

	if (error) {
		nc_count(c, FILLS_FAILED_CACHE);
		nc_cache_error(c, "fill");
	} else {
		nc_count(c, FILLS);
		nc_count_add(c, FILL_CACHE_BYTES, padded(c, f->bytes));
	}
	fill_unlist(f, !error);
	fill_done(f, !error, error);
}

static void submit_read(struct nc_fill *f)
{
	WRITE_ONCE(f->state, FILL_READING);
	fill_init_bio(f, f->target->origin->bdev, REQ_OP_READ, f->sector,
		      f->bytes);
	submit_bio_noacct(&f->bio);
}

static void fill_work(struct work_struct *work)
{
	struct nc_fill *f = container_of(work, struct nc_fill, work);

	switch (f->state) {
	case FILL_START:
		submit_read(f);
		break;
	case FILL_READING:
		fill_read_done(f);
		break;
	case FILL_FILLED:
		submit_write(f);
		break;
	case FILL_WRITING:
		fill_write_done(f);
		break;
	}
}

/* The fill that covers @span->first, else NULL and @span ends before the next
 * one.
 */
static struct nc_fill *find_fill(const struct nc_stripe *stripe,
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
 * nc_fill_busy() - is anything filling into a block's slot?
 * @stripe: the block's stripe, locked
 * @block: origin block
 */
bool nc_fill_busy(const struct nc_stripe *stripe, u64 block)
{
	struct nc_span span = { .block = block, .last = U32_MAX };
	u32 last = span.last;

	return find_fill(stripe, &span) || span.last != last;
}

/* The slot is in use: the policy must not take the last hit for its last use. */
static void refresh(struct nc_cache *c, u32 i)
{
	struct nc_slot *slot = &c->index.slots[i];

	WRITE_ONCE(slot->stamp, (READ_ONCE(slot->stamp) & NC_STAMP_REUSED) |
				(READ_ONCE(c->now) & NC_STAMP_TICK));
}

/* Join @f.  Returns whether the data is here already: then a reference is held
 * and the caller copies, without the lock.
 */
static bool join(struct nc_cache *c, struct nc_stripe *stripe,
		 struct nc_fill *f, struct bio *bio, struct nc_span *span)
{
	lockdep_assert_held(&stripe->lock);
	span->last = min(span->last, f->span.last);
	nc_read_take(c, bio, nc_read_sectors(c, bio, span));
	nc_count(c, JOINS);
	nc_count_add(c, JOIN_BYTES, bio->bi_iter.bi_size);
	trace_nearcache_access(c->dm_devt, bio, NC_VERDICT_JOIN);
	refresh(c, f->slot);
	if (f->state >= FILL_FILLED) {
		refcount_inc(&f->refs);
		return true;
	}
	bio_clear_polled(bio);
	bio_list_add(&f->waiters, bio);
	return false;
}

/* Complete @bio from a fill that has the data; drops the reference of join(). */
static void serve(struct nc_fill *f, struct bio *bio)
{
	copy_to_reader(f, bio);
	/* Before the bio completes: see fill_put(). */
	fill_put(f);
	bio_endio(bio);
}

/* The slot of @block: the one it has, or a free one that it gets now. */
static u32 slot_for(struct nc_cache *c, u64 block, u32 i)
{
	if (i == NC_NIL) {
		i = nc_index_pop(&c->index);
		if (i == NC_NIL)
			return i;
		c->index.slots[i].generation = nc_meta_generation(c->meta);
		nc_index_link(&c->index, i, block);
		atomic64_inc(&c->used);
	}
	refresh(c, i);
	return i;
}

/* Put a new fill on the list.  The stripe lock is held. */
static void fill_list(struct nc_fill *f, struct nc_stripe *stripe,
		      struct bio *bio, struct nc_span *span)
{
	struct nc_cache *c = f->target->cache;

	lockdep_assert_held(&stripe->lock);
	span->last = min(span->last, f->span.last);
	f->span = *span;
	f->sector = (span->block << c->block_shift) +
		    ((sector_t)span->first << c->sub_shift);
	f->bytes = span_bytes(c, span);
	f->state = FILL_START;
	nc_read_take(c, bio, nc_read_sectors(c, bio, span));
	nc_count(c, MISSES);
	nc_count_add(c, MISS_BYTES, bio->bi_iter.bi_size);
	trace_nearcache_access(c->dm_devt, bio, NC_VERDICT_MISS);
	bio_clear_polled(bio);
	bio_list_add(&f->waiters, bio);
	atomic_inc(&c->fills);
	list_add(&f->list, &stripe->fills);
}

static void fill_start(struct nc_fill *f, bool nowait)
{
	struct nc_cache *c = f->target->cache;

	trace_nearcache_fill_start(c->dm_devt, f->sector,
				   f->bytes >> SECTOR_SHIFT, f->slot);
	/* Submitting may have to wait for a request: not on a NOWAIT reader's
	 * back.
	 */
	if (nowait)
		queue_work(c->origin_wq, &f->work);
	else
		submit_read(f);
}

/**
 * struct look - what the stripe says about a read
 * @stripe: of the block
 * @slot: the block's slot or NC_NIL
 * @ready: for NC_FILL_JOINED: the fill to copy from, NULL when the read waits
 */
struct look {
	struct nc_stripe *stripe;
	u32 slot;
	struct nc_fill *ready;
};

/* Under the stripe lock: NC_FILL_STARTED means that a fill is to be started, of
 * what is left of @span.
 */
static enum nc_fill_result look(struct nc_cache *c, struct bio *bio,
				struct nc_span *span, struct look *l)
{
	struct nc_fill *f;
	u64 valid;

	lockdep_assert_held(&l->stripe->lock);
	l->ready = NULL;
	l->slot = nc_index_find(&c->index, span->block);
	if (l->slot != NC_NIL) {
		valid = c->index.slots[l->slot].valid >> span->first;
		if (valid & 1)
			return NC_FILL_VALID;
		if (valid)
			span->last = min_t(u32, span->last,
					   span->first + __ffs64(valid) - 1);
	}
	f = find_fill(l->stripe, span);
	if (f) {
		if (join(c, l->stripe, f, bio, span))
			l->ready = f;
		return NC_FILL_JOINED;
	}
	if (l->slot == NC_NIL && !READ_ONCE(c->index.free_count))
		return NC_FILL_FULL;
	return NC_FILL_STARTED;
}

/* Give @new its slot and its place on the list, if it is still wanted. */
static enum nc_fill_result look_and_list(struct nc_cache *c, struct bio *bio,
					 struct nc_span *span, struct look *l,
					 struct nc_fill *new)
{
	enum nc_fill_result result = look(c, bio, span, l);

	if (result != NC_FILL_STARTED)
		return result;
	new->slot = slot_for(c, span->block, l->slot);
	if (new->slot == NC_NIL)
		return NC_FILL_FULL;
	fill_list(new, l->stripe, bio, span);
	return NC_FILL_STARTED;
}

/* A fill is no longer than one bio, and than half of the memory cap. */
static void shorten(const struct nc_cache *c, struct nc_span *span)
{
	u64 bytes = min_t(u64, FILL_BYTES_MAX, c->fill_memory_max / 2);
	u32 count = max_t(u32, bytes >> (c->sub_shift + SECTOR_SHIFT), 1);

	span->last = min(span->last, span->first + count - 1);
}

/**
 * nc_fill_read() - fill from a missing read
 * @t: target
 * @bio: read, starting in @span->first
 * @span: missing sub-blocks that the read covers; shortened to what was taken,
 *	or, for NC_FILL_FULL and NC_FILL_MEMORY, to what is missing
 *
 * On STARTED and JOINED the bio was cut to @span and belongs to the fill; it may
 * already be complete.
 *
 * Context: map; does not sleep.
 * Return: see enum nc_fill_result.
 */
enum nc_fill_result nc_fill_read(struct nc_target *t, struct bio *bio,
				 struct nc_span *span)
{
	struct nc_cache *c = t->cache;
	struct look l = { nc_index_stripe(&c->index, span->block) };
	bool nowait = bio->bi_opf & REQ_NOWAIT;
	enum nc_fill_result result;
	struct nc_fill *new = NULL;

	shorten(c, span);
	spin_lock(&l.stripe->lock);
	result = look(c, bio, span, &l);
	spin_unlock(&l.stripe->lock);
	if (result == NC_FILL_STARTED) {
		new = fill_alloc(t, span);
		if (!new)
			return NC_FILL_MEMORY;
		spin_lock(&l.stripe->lock);
		result = look_and_list(c, bio, span, &l, new);
		spin_unlock(&l.stripe->lock);
	}
	if (result == NC_FILL_STARTED)
		fill_start(new, nowait);
	else if (new)
		fill_free(c, new);
	if (result == NC_FILL_JOINED && l.ready)
		serve(l.ready, bio);
	if (result == NC_FILL_STARTED || result == NC_FILL_FULL)
		nc_reclaim_check(c);
	return result;
}

/**
 * nc_fill_drain() - wait until no fill is under way
 * @c: live cache; no new read arrives
 *
 * Context: may sleep.
 */
void nc_fill_drain(struct nc_cache *c)
{
	wait_event(c->fill_idle, !atomic_read(&c->fills));
	flush_workqueue(c->wq);
	flush_workqueue(c->cache_wq);
}
