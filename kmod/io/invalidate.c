// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dropping cached data; that of many blocks at once when somebody changed the origin
 * without the cache, or nobody knows what the origin holds.  To the protocol of
 * doc/writing.md it is a write that ends at once.
 */
#include "cache.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "meta/meta.h"
#include "io/writearound.h"

/**
 * nc_invalidate_bits() - sub-blocks of a slot are not valid any more
 * @c: live cache
 * @stripe: of the slot's block, locked
 * @i: linked slot
 * @bits: sub-blocks
 *
 * Return: those that were valid.
 */
u64 nc_invalidate_bits(struct nc_cache *c, struct nc_stripe *stripe, u32 i,
		       u64 bits)
{
	struct nc_slot *slot = &c->index.slots[i];

	lockdep_assert_held(&stripe->lock);
	bits &= slot->valid;
	if (!bits)
		return 0;
	WRITE_ONCE(slot->valid, slot->valid & ~bits);
	stripe->drops++;
	atomic64_sub(hweight64(bits), &c->valid_subblocks);
	nc_meta_dirty(c, i);
	return bits;
}

/* Every slot that holds one of many blocks.  A block that gets its slot
 * meanwhile has nothing of the range in it: nobody fills from there.
 */
static void drop_slots(struct nc_cache *c, u64 first, u64 last)
{
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		struct nc_slot *slot = &c->index.slots[i];
		u64 block;

		/* Racy, as is the block: nc_write_drop_block() looks it up again. */
		if (READ_ONCE(slot->flags) & NC_SLOT_LINKED) {
			block = (u64)READ_ONCE(slot->block_hi) << 32 |
				READ_ONCE(slot->block_lo);
			if (block >= first >> c->block_shift &&
			    block <= last >> c->block_shift)
				nc_write_drop_block(c, block, first, last);
		}
		if (!(i % 1024))
			cond_resched();
	}
}

/* Every fill of a range. */
static void mark_fills(struct nc_cache *c, u64 first, u64 last)
{
	struct nc_fill *f;
	u32 i;

	for (i = 0; i < NC_STRIPES; i++) {
		struct nc_stripe *stripe = &c->index.stripes[i];

		spin_lock(&stripe->lock);
		list_for_each_entry(f, &stripe->fills, list)
			if (f->span.block >= first >> c->block_shift &&
			    f->span.block <= last >> c->block_shift)
				nc_fill_mark_stale(stripe, f->span.block,
						   nc_write_bits(c, f->span.block,
								 first, last));
		spin_unlock(&stripe->lock);
	}
}

/* From here to nc_inflight_remove() nothing is filled from these sectors. */
static void drop(struct nc_cache *c, struct nc_range *range)
{
	u64 first = range->first, last = range->last, block;

	nc_inflight_add(&c->inflight, range);
	if ((last - first) >> c->block_shift > c->index.count) {
		mark_fills(c, first, last);
		drop_slots(c, first, last);
		return;
	}
	for (block = first >> c->block_shift; block <= last >> c->block_shift;
	     block++) {
		nc_write_drop_block(c, block, first, last);
		if (!(block % 1024))
			cond_resched();
	}
}

/**
 * nc_invalidate_all() - nothing is cached any more
 * @c: live cache, its slot table not being written
 *
 * Context: may sleep.
 */
void nc_invalidate_all(struct nc_cache *c)
{
	struct nc_range all = {
		.last = (c->geo.origin_size >> SECTOR_SHIFT) - 1,
	};

	drop(c, &all);
	nc_inflight_remove(&c->inflight, &all);
}

/* The next load must not take for a change what was told today.  Only when all is
 * dropped: the fingerprint vouches for all that is cached.
 */
static void accept_origin(struct nc_cache *c)
{
	int r = nc_meta_accept_origin(c);

	if (r)
		DMWARN("%s: origin %pg cannot be read (%d): the next open may find it changed",
		       nc_cache_name(c), c->origin, r);
}

/**
 * nc_invalidate_told() - the origin was changed without us
 * @c: live cache
 * @first: first sector
 * @last: last sector, inclusive
 *
 * Reads that begin after the return get what the origin then has; hits end before
 * the origin is asked for its fingerprint (when all is dropped), however long it
 * takes.
 *
 * Context: may sleep.
 * Return: 0, then it does not come back after a crash either; -EBUSY while
 * suspended; -EIO when the medium cannot be made to tell, and the next load would
 * trust what was to be dropped.
 */
int nc_invalidate_told(struct nc_cache *c, sector_t first, sector_t last)
{
	struct nc_range range = { .first = first, .last = last };
	int r = -EBUSY;
	bool all;

	mutex_lock(&c->life);
	if (c->active) {
		all = !first &&
		      last == (c->geo.origin_size >> SECTOR_SHIFT) - 1;
		drop(c, &range);
		if (all)
			accept_origin(c);
		r = nc_meta_record_drop(c, all);
		nc_inflight_remove(&c->inflight, &range);
	}
	if (r == -EIO)
		c->untold = true;
	mutex_unlock(&c->life);
	if (r == -EIO)
		DMERR("%s: cache device cannot record the invalidation: create the cache anew",
		      nc_cache_name(c));
	return r;
}

/**
 * nc_invalidate_lost() - the origin could not make durable what it acknowledged
 * @c: live cache
 *
 * It may hold something older than what is cached of it; such an error is told
 * once, so the next flush says nothing.
 *
 * Context: any.
 */
void nc_invalidate_lost(struct nc_cache *c)
{
	if (!READ_ONCE(c->origin_written))
		return;
	DMERR_LIMIT("%s: origin %pg failed a flush, it may have lost writes: dropping cached data",
		    nc_cache_name(c), c->origin);
	/* The next flush may lie: no mark of what was written may go any more, and nothing
	 * that is read from now on may outlive the session.
	 */
	WRITE_ONCE(c->meta->flush_failed, true);
	nc_intent_leave(c);
	queue_work(c->wq, &c->lost_work);
}

/* Not under nc_cache.life: suspending waits for it.  Nothing needs to be recorded:
 * what was written to has a superblock that says active, or marks of write intent.
 */
void nc_invalidate_lost_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, lost_work);

	nc_invalidate_all(c);
}
