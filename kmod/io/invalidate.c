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
 * @bucket: of the slot's block, locked
 * @i: linked slot
 * @bits: sub-blocks
 *
 * Return: those that were valid.
 */
u64 nc_invalidate_bits(struct nc_cache *c, struct nc_bucket_lock *bucket, u32 i,
		       u64 bits)
{
	struct nc_slot *slot = &c->index.slots[i];

	lockdep_assert_held(&bucket->lock);
	bits &= slot->valid;
	if (!bits)
		return 0;
	WRITE_ONCE(slot->valid, slot->valid & ~bits);
	bucket->drops++;
	atomic64_sub(hweight64(bits), &c->slots.valid_subblocks);
	nc_table_dirty(c, i);
	return bits;
}

/* Before the origin's size changes: if the origin ends inside a sub-block, the cached copy holds
 * zeros where there may be data then.
 */
void nc_invalidate_tail(struct nc_cache *c)
{
	u64 end = c->geo.origin_size;
	u64 block = end >> (c->hot.block_shift + SECTOR_SHIFT);
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);
	u32 sub = (end & (c->geo.block_size - 1)) >>
		  (c->hot.sub_shift + SECTOR_SHIFT);
	u32 i;

	spin_lock(&bucket->lock);
	i = nc_index_find(&c->index, block);
	if (end & (c->geo.subblock_size - 1) && i != NC_NIL)
		nc_invalidate_bits(c, bucket, i, BIT_ULL(sub));
	spin_unlock(&bucket->lock);
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
			if (block >= first >> c->hot.block_shift &&
			    block <= last >> c->hot.block_shift)
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

	for (i = 0; i < NC_BUCKET_LOCKS; i++) {
		struct nc_bucket_lock *bucket = &c->index.bucket_locks[i];

		spin_lock(&bucket->lock);
		list_for_each_entry(f, &bucket->fills, list)
			if (f->span.block >= first >> c->hot.block_shift &&
			    f->span.block <= last >> c->hot.block_shift)
				nc_fill_mark_stale(bucket, f->span.block,
						   nc_write_bits(c, f->span.block,
								 first, last));
		spin_unlock(&bucket->lock);
	}
}

/* From here to nc_write_range_remove() nothing is filled from these sectors. */
static void drop(struct nc_cache *c, struct nc_write_range *range)
{
	u64 first = range->first, last = range->last, block;

	nc_write_range_add(&c->write_ranges, range);
	if ((last - first) >> c->hot.block_shift > c->index.count) {
		mark_fills(c, first, last);
		drop_slots(c, first, last);
		return;
	}
	for (block = first >> c->hot.block_shift; block <= last >> c->hot.block_shift;
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
	struct nc_write_range all = {
		.last = (c->geo.origin_size >> SECTOR_SHIFT) - 1,
	};

	drop(c, &all);
	nc_write_range_remove(&c->write_ranges, &all);
}

/* The next load must not take for a change what was told today.  Only when all is
 * dropped: the fingerprint vouches for all that is cached.
 */
static void accept_origin(struct nc_cache *c)
{
	int r = nc_meta_accept_origin(c);

	if (r)
		DMWARN("%s: origin %pg cannot be read (%d): the next open may find it changed",
		       nc_cache_name(c), c->origin.bdev, r);
}

/**
 * nc_invalidate_unless_flushed() - make durable what others wrote to the origin
 * @c: live cache
 *
 * If the flush fails, the cache treats these writes as its own: the stop flushes again, and nothing
 * survives a crash.
 *
 * Context: may sleep; nc_life.lock.
 * Return: whether the origin keeps what it acknowledged.
 */
bool nc_invalidate_unless_flushed(struct nc_cache *c)
{
	bool written = READ_ONCE(c->origin.written);
	int r = nc_meta_flush_written(c);

	if (!r)
		return true;
	if (written)
		nc_invalidate_lost(c);
	WRITE_ONCE(c->origin.written, true);
	DMWARN("%s: origin %pg cannot be flushed (%d): a crash will leave nothing cached",
	       nc_cache_name(c), c->origin.bdev, r);
	return false;
}

static int record_drop(struct nc_cache *c, bool all)
{
	if (!nc_meta_starts_cold(c))
		return nc_meta_record_drop(c, all, nc_invalidate_unless_flushed(c));
	/* The writes of others must last as long as the cached copies of them: until the stop,
	 * which flushes the origin.
	 */
	WRITE_ONCE(c->origin.written, true);
	return 0;
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
	struct nc_write_range range = { .first = first, .last = last };
	int r = -EBUSY;
	bool all;

	mutex_lock(&c->life.lock);
	if (c->life.active) {
		all = !first &&
		      last == (c->geo.origin_size >> SECTOR_SHIFT) - 1;
		drop(c, &range);
		if (all)
			accept_origin(c);
		r = record_drop(c, all);
		nc_write_range_remove(&c->write_ranges, &range);
	}
	if (r == -EIO)
		c->life.dirty_unrecorded = true;
	mutex_unlock(&c->life.lock);
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
	if (!READ_ONCE(c->origin.written))
		return;
	DMERR_LIMIT("%s: origin %pg failed a flush, it may have lost writes: dropping cached data",
		    nc_cache_name(c), c->origin.bdev);
	/* The next flush may lie: no mark of what was written may go any more, and nothing
	 * that is read from now on may outlive the session.
	 */
	WRITE_ONCE(c->meta->flush_failed, true);
	nc_intent_leave(c);
	queue_work(c->workers.completion, &c->workers.drop_all);
}

/* Not under nc_life.lock: suspending waits for it.  Nothing needs to be recorded:
 * what was written to has a superblock that says active, or marks of write intent.
 */
void nc_invalidate_lost_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, workers.drop_all);

	nc_invalidate_all(c);
}
