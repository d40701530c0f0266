// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misses.  A look-up without a lock found a run of sub-blocks missing.  A second look-up, under the
 * bucket lock of the block, finds that the run is valid by now, is being filled (the read joins the
 * fill), is being written (the read bypasses the cache), or none of these (the read starts a fill).
 *
 * Nothing here waits for memory or a free slot: a read that cannot start a fill bypasses the cache.
 */
#include "cache.h"
#include "io/fill.h"
#include "io/trace_io.h"
#include "io/miss.h"
#include "io/read.h"
#include "evict/free_slots.h"

/**
 * struct look - result of the look-up under the bucket lock
 * @bucket: bucket lock of the block
 * @slot: slot of the block, or NC_NIL
 * @fill: if joined, the fill to copy from, with a reference, or NULL if the fill will complete
 *	the read; if started, the new fill after it was listed
 */
struct look {
	struct nc_bucket_lock *bucket;
	u32 slot;
	struct nc_fill *fill;
};

/* Set the slot's last use to now: a miss in its block counts as a use, like a hit. */
static void refresh_slot(struct nc_cache *c, u32 i)
{
	struct nc_slot *slot = &c->index.slots[i];

	slot->flags &= ~NC_SLOT_WRITTEN;
	WRITE_ONCE(slot->stamp, (READ_ONCE(slot->stamp) & NC_STAMP_REUSED) |
				(READ_ONCE(c->hot.now) & NC_STAMP_TICK));
}

/* Shorten @span to the sub-blocks that @f will publish.  @f is joinable at the start of @span. */
static void shorten_to(const struct nc_fill *f, struct nc_span *span)
{
	u64 stale = f->stale >> span->first;

	span->last = min(span->last, f->entry.span.last);
	if (stale)
		span->last = min_t(u32, span->last,
				   span->first + __ffs64(stale) - 1);
}

/* Let @bio, cut to @span, join @f.  Returns false if @f will complete @bio.  Returns true if @f has
 * its data already: the caller drops the bucket lock, copies, then drops a reference of @f.
 */
static bool join_fill(struct nc_cache *c, struct nc_bucket_lock *bucket,
		      struct nc_fill *f, struct bio *bio, struct nc_span *span)
{
	lockdep_assert_held(&bucket->lock);
	shorten_to(f, span);
	nc_bio_take(c, bio, nc_bio_sectors(&c->hot, bio, span));
	nc_count(c, JOINS);
	nc_count_add(c, JOIN_BYTES, bio->bi_iter.bi_size);
	nc_ranges_count_miss(c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	nc_observe(c, bio, NEARCACHE_VERDICT_JOIN);
	if (f->ops->ahead)
		nc_prefetched_joined(c, &c->index.slots[f->slot], bio, span);
	if (f->ops->joined)
		f->ops->joined(f, bio->bi_iter.bi_size);
	refresh_slot(c, f->slot);
	bio_clear_polled(bio);
	if (nc_fill_wait(f, bio))
		return false;
	refcount_inc(&f->refs);
	return true;
}

/* May a read join @f?  Not if @f is an update, or the first sub-block of @span is stale. */
static bool fill_joinable(const struct nc_fill *f, const struct nc_span *span)
{
	return !f->ops->write && !(f->stale & BIT_ULL(span->first));
}

/* Is the fill's data still to come from a peer?  No read waits for a peer: the read may come from
 * that peer, for a fill that this fill waits for.
 */
static bool waits_for_peer(const struct nc_fill *f)
{
	return f->ops->peer && READ_ONCE(f->waiters) != NC_FILL_READY;
}

/* Is the first sub-block of @span being written?  If not, end @span before the first that is. */
static bool being_written(struct nc_cache *c, struct nc_span *span)
{
	u64 block = span->block << c->hot.block_shift;
	u64 first = block + ((u64)span->first << c->hot.sub_shift);
	u64 last = block + ((u64)(span->last + 1) << c->hot.sub_shift) - 1;
	u64 found;
	u32 sub;

	if (!nc_write_range_first(&c->write_ranges, first, last, &found))
		return false;
	sub = (u32)(found - block) >> c->hot.sub_shift;
	if (sub == span->first)
		return true;
	span->last = sub - 1;
	return false;
}

/* Look a miss up under the bucket lock; the result applies to @span, which may get shorter.  For
 * NC_MISS_STARTED the caller must start a fill of @span.  @bio: the read that misses, or NULL.
 * @user: see struct nc_fill_ops.
 */
static enum nc_miss look_up_miss(struct nc_cache *c, struct bio *bio,
				 struct nc_span *span, struct look *l, enum nc_slot_user user)
{
	struct nc_fill *f;
	u64 valid;

	lockdep_assert_held(&l->bucket->lock);
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
	f = nc_fill_find(l->bucket, span);
	if (f && !fill_joinable(f, span)) {
		span->last = min(span->last, f->entry.span.last);
		return NC_MISS_WRITE;
	}
	if (f && bio && waits_for_peer(f)) {
		span->last = min(span->last, f->entry.span.last);
		return NC_MISS_PEER;
	}
	if (f && !bio) {
		shorten_to(f, span);
		return NC_MISS_JOINED;
	}
	if (f) {
		if (join_fill(c, l->bucket, f, bio, span))
			l->fill = f;
		return NC_MISS_JOINED;
	}
	if (being_written(c, span)) {
		/* The write may end inside @span: report only the first sub-block of @span. */
		if (!bio)
			span->last = span->first;
		return NC_MISS_WRITE;
	}
	if (l->slot == NC_NIL && !nc_slots_room(c, span->block, user))
		return NC_MISS_FULL;
	return NC_MISS_STARTED;
}

/* Make @bio the first reader of a new fill. */
static void list_reader(struct nc_fill *f, struct bio *bio,
			const struct nc_span *span)
{
	struct nc_cache *c = f->target->cache;

	nc_bio_take(c, bio, nc_bio_sectors(&c->hot, bio, span));
	nc_count(c, MISSES);
	nc_count_add(c, MISS_BYTES, bio->bi_iter.bi_size);
	nc_ranges_count_miss(c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	nc_observe(c, bio, NEARCACHE_VERDICT_MISS);
	bio_clear_polled(bio);
	bio->bi_next = NULL;
	f->waiters = bio;
}

/* List a new fill.  If @bio is not NULL, it becomes the first reader. */
static void list_fill(struct nc_fill *f, struct nc_bucket_lock *bucket, struct bio *bio,
		      const struct nc_span *span)
{
	struct nc_cache *c = f->target->cache;

	f->entry.span = *span;
	f->sector = (span->block << c->hot.block_shift) +
		    ((sector_t)span->first << c->hot.sub_shift);
	f->bytes = nc_fill_span_bytes(c, span);
	/* The cache device gets whole sub-blocks. */
	f->cache_bytes = round_up(f->bytes, c->geo.subblock_size);
	f->state = NC_FILL_START;
	if (bio)
		list_reader(f, bio, span);
	nc_fill_list(f, bucket);
}

/* nc_fill_ops.sent and .read_done for demand fills and readahead: measure the origin's reads. */
void nc_miss_sent(struct nc_fill *f)
{
	f->undisturbed = nc_demand_begin_read(&f->target->cache->origin.demand, f->bytes, f->since);
}

void nc_miss_read_done(struct nc_fill *f, u64 took)
{
	nc_demand_end_read(&f->target->cache->origin.demand, took, f->undisturbed);
}

static void demand_done(struct nc_fill *f, u64 bits, int error)
{
	if (bits)
		nc_count(f->target->cache, FILLS);
}

/* Fills of data that users read. */
static const struct nc_fill_ops demand_fill_ops = {
	.sent = nc_miss_sent,
	.read_done = nc_miss_read_done,
	.done = demand_done,
};

/* Return the block's slot, or give the block a free slot.  NC_NIL: the block gets none. */
static u32 take_slot(struct nc_cache *c, const struct nc_span *span, const struct look *l,
		     const struct nc_fill_ops *ops)
{
	u32 i = l->slot;

	if (i != NC_NIL) {
		/* A job marks an emptied slot, but no new one: its first fill is in flight. */
		if (ops->user == NC_SLOT_JOB && !c->index.slots[i].valid &&
		    !nc_bucket_is_filling(l->bucket, span->block))
			nc_prefetched_refill(c, &c->index.slots[i]);
		nc_slots_refill(c, l->bucket, i);
		return i;
	}
	i = nc_slots_take(c, span->block, ops->user);
	if (i != NC_NIL && ops->ahead && ops->user != NC_SLOT_JOB)
		nc_prefetched_window(&c->index.slots[i]);
	return i;
}

/* Allocate and list the fill that look_up_miss() asks for, unless memory or a slot is lacking.  The
 * bucket lock is held since that look-up, so its result still applies.  Does not sleep.
 */
static enum nc_miss begin_fill(struct nc_target *t, struct bio *bio, const struct nc_span *span,
			       struct look *l, const struct nc_fill_ops *ops)
{
	struct nc_cache *c = t->cache;
	sector_t sector = (span->block << c->hot.block_shift) +
			  ((sector_t)span->first << c->hot.sub_shift);
	struct nc_fill *f;

	lockdep_assert_held(&l->bucket->lock);
	f = nc_fill_alloc(t, ops, sector, nc_fill_span_bytes(c, span), ops->ahead);
	if (!f)
		return NC_MISS_MEMORY;
	f->slot = take_slot(c, span, l, ops);
	if (f->slot == NC_NIL) {
		nc_fill_free(c, f);
		return NC_MISS_FULL;
	}
	refresh_slot(c, f->slot);
	list_fill(f, l->bucket, bio, span);
	l->fill = f;
	return NC_MISS_STARTED;
}

/* Look up @span.  If the result is NC_MISS_STARTED, l->fill is listed and the caller starts it. */
static enum nc_miss look_and_begin(struct nc_target *t, struct bio *bio, struct nc_span *span,
				   const struct nc_fill_ops *ops, struct look *l)
{
	struct nc_cache *c = t->cache;
	enum nc_miss result;

	l->bucket = nc_index_bucket(&c->index, span->block);
	nc_fill_shorten(c, span, ops->ahead);
	spin_lock(&l->bucket->lock);
	result = look_up_miss(c, bio, span, l, ops->user);
	if (result == NC_MISS_STARTED)
		result = begin_fill(t, bio, span, l, ops);
	spin_unlock(&l->bucket->lock);
	return result;
}

/**
 * nc_miss_read() - join or start a fill for a missing read
 * @t: target
 * @bio: read, starting in @span->first
 * @span: missing sub-blocks of the read; shortened to those that the result applies to
 *
 * On NC_MISS_STARTED and NC_MISS_JOINED @bio was cut to @span and belongs to a fill; @bio may
 * already be complete.
 *
 * Context: map; does not sleep.
 * Return: see enum nc_miss.
 */
enum nc_miss nc_miss_read(struct nc_target *t, struct bio *bio,
			  struct nc_span *span)
{
	struct nc_cache *c = t->cache;
	bool nowait = bio->bi_opf & REQ_NOWAIT;
	struct look l;
	enum nc_miss result = look_and_begin(t, bio, span, &demand_fill_ops, &l);

	if (result == NC_MISS_STARTED)
		nc_fill_start(l.fill, nowait);
	if (result == NC_MISS_JOINED && l.fill)
		nc_fill_serve(l.fill, bio);
	if (result == NC_MISS_STARTED || result == NC_MISS_FULL)
		nc_slots_check(c);
	return result;
}

/**
 * nc_miss_prefetch() - list a fill of data for future readers
 * @t: live target
 * @span: missing sub-blocks; shortened to those that the result applies to
 * @ops: kind of the fill
 * @f: set to the fill on NC_MISS_STARTED; the caller calls nc_fill_start() and nc_slots_check()
 *
 * Context: process.
 * Return: see enum nc_miss; NC_MISS_JOINED: another fill already brings the data.
 */
enum nc_miss nc_miss_prefetch(struct nc_target *t, struct nc_span *span,
			      const struct nc_fill_ops *ops, struct nc_fill **f)
{
	struct look l;
	enum nc_miss result = look_and_begin(t, NULL, span, ops, &l);

	*f = l.fill;
	return result;
}

/**
 * nc_miss_fill() - fill sub-blocks that no reader waits for
 * @t: target
 * @span: missing sub-blocks; shortened to those for which a fill was queued, or for which no fill
 *	can start now
 *
 * Context: process.
 */
void nc_miss_fill(struct nc_target *t, struct nc_span *span)
{
	struct look l;

	if (look_and_begin(t, NULL, span, &demand_fill_ops, &l) == NC_MISS_STARTED)
		nc_fill_start(l.fill, true);
}
