// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misses.  Under the bucket lock of its block a missing run of sub-blocks is valid by now,
 * being filled (join the fill), being written (read the origin), or none of these (start a
 * fill).
 *
 * Nothing here waits for memory or for a free slot: a read that cannot start a fill bypasses
 * the cache.
 */
#include "cache.h"
#include "io/fill.h"
#include "io/observe.h"
#include "io/miss.h"
#include "prefetch/throttle.h"
#include "io/read.h"
#include "evict/reclaim.h"

/**
 * struct look - state of a missing run under the bucket lock
 * @stripe: bucket lock of the block
 * @slot: slot of the block, or NC_NIL
 * @fill: for NC_MISS_JOINED the fill to copy from, or NULL if the read waits; for
 *	NC_MISS_STARTED the new fill once it is listed
 */
struct look {
	struct nc_stripe *stripe;
	u32 slot;
	struct nc_fill *fill;
};

/* A miss uses the slot as well: the policy must not judge the slot by its last hit. */
static void refresh(struct nc_cache *c, u32 i)
{
	struct nc_slot *slot = &c->index.slots[i];

	slot->flags &= ~NC_SLOT_WRITTEN;
	WRITE_ONCE(slot->stamp, (READ_ONCE(slot->stamp) & NC_STAMP_REUSED) |
				(READ_ONCE(c->now) & NC_STAMP_TICK));
}

/* Shorten @span to the sub-blocks that @f will publish.  @f is joinable at the start of @span. */
static void shorten_to(const struct nc_fill *f, struct nc_span *span)
{
	u64 stale = f->stale >> span->first;

	span->last = min(span->last, f->span.last);
	if (stale)
		span->last = min_t(u32, span->last,
				   span->first + __ffs64(stale) - 1);
}

/* Join @f.  Returns true if the data is here already: then the caller holds a reference
 * and copies after it drops the bucket lock.
 */
static bool join(struct nc_cache *c, struct nc_stripe *stripe,
		 struct nc_fill *f, struct bio *bio, struct nc_span *span)
{
	lockdep_assert_held(&stripe->lock);
	shorten_to(f, span);
	nc_read_take(c, bio, nc_read_sectors(c, bio, span));
	nc_count(c, JOINS);
	nc_count_add(c, JOIN_BYTES, bio->bi_iter.bi_size);
	nc_ranges_count_miss(c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	nc_observe(c, bio, NEARCACHE_VERDICT_JOIN);
	if (f->ahead)
		nc_ahead_joined(c, &c->index.slots[f->slot], bio, span);
	if (f->job)
		nc_pace_met(c, bio->bi_iter.bi_size);
	refresh(c, f->slot);
	bio_clear_polled(bio);
	if (nc_fill_wait(f, bio))
		return false;
	refcount_inc(&f->refs);
	return true;
}

/* Can a read join @f at the start of @span? */
static bool joinable(const struct nc_fill *f, const struct nc_span *span)
{
	return !f->update && !(f->stale & BIT_ULL(span->first));
}

/* Is the start of @span being written?  If not, shorten @span to end before the first
 * sub-block that is.
 */
static bool being_written(struct nc_cache *c, struct nc_span *span)
{
	u64 block = span->block << c->block_shift;
	u64 first = block + ((u64)span->first << c->sub_shift);
	u64 last = block + ((u64)(span->last + 1) << c->sub_shift) - 1;
	u64 found;
	u32 sub;

	if (!nc_inflight_first(&c->inflight, first, last, &found))
		return false;
	sub = (u32)(found - block) >> c->sub_shift;
	if (sub == span->first)
		return true;
	span->last = sub - 1;
	return false;
}

/* Decide about the start of @span under the bucket lock.  NC_MISS_STARTED: the caller starts a
 * fill of the shortened @span.  Without @bio no read joins a fill.  @ahead: for a prefetch job.
 */
static enum nc_miss look(struct nc_cache *c, struct bio *bio,
			 struct nc_span *span, struct look *l, bool ahead)
{
	struct nc_fill *f;
	u64 valid;

	lockdep_assert_held(&l->stripe->lock);
	l->fill = NULL;
	l->slot = nc_index_find(&c->index, span->block);
	if (l->slot != NC_NIL) {
		valid = c->index.slots[l->slot].valid >> span->first;
		if (valid & 1)
			return NC_MISS_VALID;
		if (valid)
			span->last = min_t(u32, span->last,
					   span->first + __ffs64(valid) - 1);
	}
	f = nc_fill_find(l->stripe, span);
	if (f && !joinable(f, span)) {
		span->last = min(span->last, f->span.last);
		return NC_MISS_WRITE;
	}
	if (f && !bio) {
		shorten_to(f, span);
		return NC_MISS_JOINED;
	}
	if (f) {
		if (join(c, l->stripe, f, bio, span))
			l->fill = f;
		return NC_MISS_JOINED;
	}
	if (being_written(c, span)) {
		/* No reader depends on the length: continue sub-block by sub-block. */
		if (!bio)
			span->last = span->first;
		return NC_MISS_WRITE;
	}
	if (l->slot == NC_NIL && !nc_reclaim_room(c, span->block, ahead))
		return NC_MISS_FULL;
	return NC_MISS_STARTED;
}

/* Make @bio the first reader of a new fill. */
static void list_reader(struct nc_fill *f, struct bio *bio,
			const struct nc_span *span)
{
	struct nc_cache *c = f->target->cache;

	nc_read_take(c, bio, nc_read_sectors(c, bio, span));
	nc_count(c, MISSES);
	nc_count_add(c, MISS_BYTES, bio->bi_iter.bi_size);
	nc_ranges_count_miss(c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	nc_observe(c, bio, NEARCACHE_VERDICT_MISS);
	bio_clear_polled(bio);
	bio->bi_next = NULL;
	f->waiters = bio;
}

/* List a new fill, with @bio, unless NULL, as its first reader. */
static void list(struct nc_fill *f, struct nc_stripe *stripe, struct bio *bio,
		 const struct nc_span *span)
{
	struct nc_cache *c = f->target->cache;

	f->span = *span;
	f->sector = (span->block << c->block_shift) +
		    ((sector_t)span->first << c->sub_shift);
	f->bytes = nc_fill_span_bytes(c, span);
	/* The cache device gets whole sub-blocks. */
	f->cache_bytes = round_up(f->bytes, c->geo.subblock_size);
	f->state = NC_FILL_START;
	if (bio)
		list_reader(f, bio, span);
	nc_fill_list(f, stripe);
}

/* @half: for prefetches, which leave half of the fill memory to reads. */
static struct nc_fill *alloc(struct nc_target *t, const struct nc_span *span, bool half)
{
	struct nc_cache *c = t->cache;
	sector_t sector = (span->block << c->block_shift) +
			  ((sector_t)span->first << c->sub_shift);

	return nc_fill_alloc(t, sector, nc_fill_span_bytes(c, span), half);
}

/* Return the slot of the block, or a free slot that is now linked to it, or NC_NIL. */
static u32 take_slot(struct nc_cache *c, const struct nc_span *span, const struct look *l,
		     bool ahead, const struct nc_job *job)
{
	u32 i = l->slot;

	if (i != NC_NIL)
		return i;
	i = nc_reclaim_take(c, span->block, job);
	if (i != NC_NIL && ahead && !job)
		nc_ahead_window(&c->index.slots[i]);
	return i;
}

/* Start the fill that look() asked for.  Allocation does not sleep, so it runs under the same
 * lock and look()'s result still holds.  @ahead: for a prefetch of @job, or of a readahead window.
 */
static enum nc_miss begin(struct nc_target *t, struct bio *bio, const struct nc_span *span,
			  struct look *l, bool ahead, struct nc_job *job)
{
	struct nc_cache *c = t->cache;
	struct nc_fill *f;

	lockdep_assert_held(&l->stripe->lock);
	f = alloc(t, span, ahead);
	if (!f)
		return NC_MISS_MEMORY;
	f->ahead = ahead;
	f->job = job;
	f->slot = take_slot(c, span, l, ahead, job);
	if (f->slot == NC_NIL) {
		nc_fill_free(c, f);
		return NC_MISS_FULL;
	}
	refresh(c, f->slot);
	list(f, l->stripe, bio, span);
	l->fill = f;
	return NC_MISS_STARTED;
}

/**
 * nc_miss_read() - join or start a fill for a missing read
 * @t: target
 * @bio: read, starting in @span->first
 * @span: missing sub-blocks of the read; shortened to those that the result applies to
 *
 * On STARTED and JOINED the bio was cut to @span and belongs to the fill; it may already be
 * complete.
 *
 * Context: map; does not sleep.
 * Return: see enum nc_miss.
 */
enum nc_miss nc_miss_read(struct nc_target *t, struct bio *bio,
			  struct nc_span *span)
{
	struct nc_cache *c = t->cache;
	struct look l = { nc_index_stripe(&c->index, span->block) };
	bool nowait = bio->bi_opf & REQ_NOWAIT;
	enum nc_miss result;

	nc_fill_shorten(c, span, false);
	spin_lock(&l.stripe->lock);
	result = look(c, bio, span, &l, false);
	if (result == NC_MISS_STARTED)
		result = begin(t, bio, span, &l, false, NULL);
	spin_unlock(&l.stripe->lock);
	if (result == NC_MISS_STARTED)
		nc_fill_start(l.fill, nowait);
	if (result == NC_MISS_JOINED && l.fill)
		nc_fill_serve(l.fill, bio);
	if (result == NC_MISS_STARTED || result == NC_MISS_FULL)
		nc_reclaim_check(c);
	return result;
}

/**
 * nc_miss_prefetch() - start a fill that no reader asked for yet
 * @t: live target
 * @span: missing sub-blocks; shortened to those that the result applies to
 * @job: prefetch job, or NULL for a readahead window
 *
 * Context: process; may wait for a request to the origin.
 * Return: see enum nc_miss; NC_MISS_JOINED: another fill brings the data.
 */
enum nc_miss nc_miss_prefetch(struct nc_target *t, struct nc_span *span, struct nc_job *job)
{
	struct nc_cache *c = t->cache;
	struct look l = { nc_index_stripe(&c->index, span->block) };
	enum nc_miss result;

	nc_fill_shorten(c, span, true);
	spin_lock(&l.stripe->lock);
	result = look(c, NULL, span, &l, job);
	if (result == NC_MISS_STARTED)
		result = begin(t, NULL, span, &l, true, job);
	if (result == NC_MISS_STARTED && job)
		nc_prefetch_begun(c, l.fill);
	spin_unlock(&l.stripe->lock);
	if (result == NC_MISS_STARTED) {
		nc_fill_start(l.fill, false);
		nc_reclaim_check(c);
	}
	return result;
}

/**
 * nc_miss_fill() - fill invalidated sub-blocks again, without a reader
 * @t: target
 * @span: missing sub-blocks; those that cannot be filled now are left to the next reader
 *
 * Context: process; does not wait for the origin.
 */
void nc_miss_fill(struct nc_target *t, struct nc_span *span)
{
	struct nc_cache *c = t->cache;
	struct look l = { nc_index_stripe(&c->index, span->block) };
	enum nc_miss result;

	nc_fill_shorten(c, span, false);
	spin_lock(&l.stripe->lock);
	result = look(c, NULL, span, &l, false);
	if (result == NC_MISS_STARTED)
		result = begin(t, NULL, span, &l, false, NULL);
	spin_unlock(&l.stripe->lock);
	if (result == NC_MISS_STARTED)
		nc_fill_start(l.fill, true);
}
