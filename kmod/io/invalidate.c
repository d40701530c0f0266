// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invalidation of cached data, including many blocks at once when the origin was changed
 * without the cache or its content is unknown.  In the protocol of doc/writing.md an
 * invalidation is a write that ends at once.
 */
#include "cache.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "meta/meta.h"
#include "io/writearound.h"

/**
 * nc_invalidate_bits() - clear valid bits of a slot
 * @c: live cache
 * @stripe: bucket lock of the slot's block, held
 * @i: linked slot
 * @bits: sub-blocks
 *
 * Return: the bits that were valid.
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

/* Invalidate the range in every slot that holds one of its blocks.  A block that gets a slot
 * during the scan has no sub-block of the range, because nc_cache.inflight keeps fills away.
 */
static void drop_slots(struct nc_cache *c, u64 first, u64 last)
{
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		struct nc_slot *slot = &c->index.slots[i];
		u64 block;

		/* Racy, as is the block: nc_write_drop_block() looks it up again under the lock. */
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

/* Mark the sectors stale in every fill under way. */
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

/* From here to nc_inflight_remove() no fill reads these sectors. */
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

/* Invalidate the whole cache.  The slot table is not being written.  May sleep. */
void nc_invalidate_all(struct nc_cache *c)
{
	struct nc_range all = {
		.last = (c->geo.origin_size >> SECTOR_SHIFT) - 1,
	};

	drop(c, &all);
	nc_inflight_remove(&c->inflight, &all);
}

/* Take the fingerprint of the changed origin, so that the next load does not see the reported
 * change as a new one.  Only if all was invalidated: the fingerprint covers all cached data.
 */
static void accept_origin(struct nc_cache *c)
{
	int r = nc_meta_accept_origin(c);

	if (r)
		DMWARN("%s: origin %pg cannot be read (%d): the next open may see a change",
		       nc_cache_name(c), c->origin, r);
}

/**
 * nc_invalidate_told() - invalidate sectors that user space says have changed on the origin
 * @c: live cache
 * @first: first sector
 * @last: last sector, inclusive
 *
 * Reads that begin after the return get the origin's present data.  If all is
 * invalidated, hits end before the fingerprint is read, however long that takes.
 *
 * Context: may sleep; takes nc_cache.life.
 * Return: 0: the data does not come back after a crash either; -EBUSY while suspended; -EIO
 * if the cache device cannot record it: the next load would trust the invalidated data.
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
		DMERR("%s: cache device cannot record the invalidation: format it again before use",
		      nc_cache_name(c));
	return r;
}

/*
 * The origin failed a flush, so it may have lost acknowledged writes and hold data that is
 * older than the cached data.  The origin reports such an error once: the next flush succeeds.
 * Context: any.
 */
void nc_invalidate_lost(struct nc_cache *c)
{
	if (!READ_ONCE(c->origin_written))
		return;
	DMERR_LIMIT("%s: origin %pg failed a flush, it may have lost writes: dropping cached data",
		    nc_cache_name(c), c->origin);
	/* The next flush may succeed wrongly: keep all write-intent bits of this session, and let
	 * no data that is read from now on outlive it.
	 */
	WRITE_ONCE(c->meta->flush_failed, true);
	nc_intent_leave(c);
	queue_work(c->wq, &c->lost_work);
}

/* Not under nc_cache.life: suspending waits for this work.  Nothing needs recording: after
 * writes the superblock says active, or the write intent marks the written regions.
 */
void nc_invalidate_lost_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, lost_work);

	nc_invalidate_all(c);
}
