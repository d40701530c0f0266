// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invalidation of cached data.  A write invalidates the sectors that it changes.  If the origin was
 * changed without the cache, or its content is unknown, many blocks are invalidated: for the
 * protocol of doc/writing.md this is a write that sends nothing to the origin.
 */
#include "cache.h"
#include "core/sleep.h"
#include "evict/free_slots.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "meta/meta.h"
#include "meta/recorded_fingerprint.h"

/**
 * nc_invalidate_bits() - clear valid bits of a slot
 * @c: live cache
 * @bucket: bucket lock of the slot's block, held
 * @i: linked slot
 * @bits: sub-blocks
 *
 * Return: the subset of @bits that was valid.
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
	/* Have the plan count the block as not cached, so that its stream brings the data again.  A
	 * block with a fill in flight stays counted as cached.
	 */
	if (!slot->valid && nc_plan_any(c) && !nc_bucket_is_filling(bucket, nc_slot_block(slot)))
		nc_plan_gone(c, nc_slot_block(slot));
	return bits;
}

/* Invalidate the sub-block in which the origin ends, before the origin's size changes: the cached
 * copy has zeros where the longer origin may have data.
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

/* Sub-blocks of @block that contain any sector from @first to @last, inclusive. */
u64 nc_invalidate_mask(const struct nc_cache *c, u64 block, sector_t first, sector_t last)
{
	u64 start = block << c->hot.block_shift;
	u64 end = start + (1U << c->hot.block_shift) - 1;

	return GENMASK_ULL((min(last, end) - start) >> c->hot.sub_shift,
			   (max(first, start) - start) >> c->hot.sub_shift);
}

/**
 * nc_invalidate_subblocks() - invalidate sub-blocks that are about to change on the origin
 * @c: live cache
 * @bucket: bucket lock of @block, held
 * @block: origin block; its sectors that change are in nc_cache.write_ranges
 * @bits: sub-blocks to invalidate; fills in flight will not make them valid either
 * @empty: set to whether this call took the last valid data of a slot that is not pinned
 *
 * Return: sub-blocks that were valid.  After unlocking, pass them to nc_invalidate_count().
 */
u64 nc_invalidate_subblocks(struct nc_cache *c, struct nc_bucket_lock *bucket, u64 block, u64 bits,
			    bool *empty)
{
	u32 i = nc_index_find(&c->index, block);
	u64 dropped;

	lockdep_assert_held(&bucket->lock);
	*empty = false;
	nc_fill_mark_stale(bucket, block, bits);
	if (i == NC_NIL)
		return 0;
	dropped = nc_invalidate_bits(c, bucket, i, bits);
	*empty = dropped && nc_slot_is_empty(&c->index.slots[i]);
	return dropped;
}

/* Account sub-blocks that were invalidated.  For a listed update update_done() does this. */
void nc_invalidate_count(struct nc_cache *c, u64 dropped, bool empty)
{
	if (dropped)
		nc_count_add(c, INVALIDATED_BYTES,
			     hweight64(dropped) * c->geo.subblock_size);
	if (empty)
		nc_slots_emptied(c);
}

/* Invalidate the part of the sectors from @first to @last, inclusive, that lies in @block.  The
 * sectors are in nc_cache.write_ranges.  Context: any except interrupts.
 */
void nc_invalidate_block(struct nc_cache *c, u64 block, sector_t first, sector_t last)
{
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);
	u64 bits = nc_invalidate_mask(c, block, first, last);
	u64 dropped;
	bool empty;

	spin_lock(&bucket->lock);
	dropped = nc_invalidate_subblocks(c, bucket, block, bits, &empty);
	spin_unlock(&bucket->lock);
	nc_invalidate_count(c, dropped, empty);
}

/* Invalidate the sectors from @first to @last in all slots.  A block that gets a slot during the
 * scan gets no valid data of these sectors, because nc_cache.write_ranges keeps fills away.
 */
static void drop_slots(struct nc_cache *c, u64 first, u64 last)
{
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		struct nc_slot *slot = &c->index.slots[i];
		u64 block;

		/* Read without the lock: nc_invalidate_block() looks the block up again. */
		if (READ_ONCE(slot->flags) & NC_SLOT_LINKED) {
			block = (u64)READ_ONCE(slot->block_hi) << 32 |
				READ_ONCE(slot->block_lo);
			if (block >= first >> c->hot.block_shift &&
			    block <= last >> c->hot.block_shift)
				nc_invalidate_block(c, block, first, last);
		}
		if (!(i % 1024))
			cond_resched();
	}
}

/* Keep fills in flight from making the sectors from @first to @last valid. */
static void mark_fills(struct nc_cache *c, u64 first, u64 last)
{
	struct nc_fill_entry *entry;
	u32 i;

	for (i = 0; i < NC_BUCKET_LOCKS; i++) {
		struct nc_bucket_lock *bucket = &c->index.bucket_locks[i];

		spin_lock(&bucket->lock);
		list_for_each_entry(entry, &bucket->fills, list)
			if (entry->span.block >= first >> c->hot.block_shift &&
			    entry->span.block <= last >> c->hot.block_shift)
				nc_fill_mark_stale(bucket, entry->span.block,
						   nc_invalidate_mask(c, entry->span.block,
								      first, last));
		spin_unlock(&bucket->lock);
	}
}

/* Invalidate @range.  No fill of these sectors starts until nc_write_range_remove(). */
static void drop_range(struct nc_cache *c, struct nc_write_range *range)
{
	u64 first = range->first, last = range->last, block;

	nc_write_range_add(&c->write_ranges, range);
	c->origin.changed(c);
	if ((last - first) >> c->hot.block_shift > c->index.count) {
		mark_fills(c, first, last);
		drop_slots(c, first, last);
		return;
	}
	for (block = first >> c->hot.block_shift; block <= last >> c->hot.block_shift;
	     block++) {
		nc_invalidate_block(c, block, first, last);
		if (!(block % 1024))
			cond_resched();
	}
}

/* Invalidate the whole cache, in memory only: does not write the slot table.  May sleep. */
void nc_invalidate_all(struct nc_cache *c)
{
	struct nc_write_range all = {
		.last = (c->geo.origin_size >> SECTOR_SHIFT) - 1,
	};

	drop_range(c, &all);
	nc_write_range_remove(&c->write_ranges, &all);
}

/* Record the fingerprint of the changed origin, so that the next load does not detect the reported
 * change again.  Call this only after the whole cache was invalidated: the fingerprint vouches
 * for all cached data.
 */
static void accept_origin(struct nc_cache *c)
{
	int r = nc_meta_accept_origin(c);

	if (r)
		DMWARN("%s: origin %pg cannot be read (%d): the next open may see a change",
		       nc_cache_name(c), c->origin.bdev, r);
}

/**
 * nc_invalidate_unless_flushed() - flush the origin after others wrote to it without the cache
 * @c: live cache
 *
 * If the flush fails, the cache treats these writes as its own: the stop flushes again, and no
 * cached data survives a crash.  If the cache has also written, it drops all cached data as well.
 *
 * Context: may sleep; nc_life.lock.
 * Return: whether the flush succeeded.
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
	/* No record is needed: after a crash no cached data is used.  After a stop it is used, but
	 * the stop flushes the origin first, because origin.written is set.
	 */
	WRITE_ONCE(c->origin.written, true);
	return 0;
}

/**
 * nc_invalidate_changed() - invalidate sectors that user space says have changed on the origin
 * @c: live cache
 * @first: first sector
 * @last: last sector, inclusive
 *
 * Reads that begin after the return get the origin's present data.  If the sectors are the whole
 * origin, the call also reads the origin's fingerprint, which may take long.
 *
 * Context: may sleep; takes nc_life.lock.
 * Return: 0: the data stays invalid after a crash as well; -EBUSY: suspended, or not yet compared
 * with the cache device after a hibernation, and nothing was done;
 * -EIO: the cache device cannot record the invalidation, or is bypassed and was not compared: the
 * next load may trust the old data, unless the same dm device makes it.
 */
int nc_invalidate_changed(struct nc_cache *c, sector_t first, sector_t last)
{
	struct nc_write_range range = { .first = first, .last = last };
	int r = -EBUSY;
	bool all;

	mutex_lock(&c->life.lock);
	/* Do not write to a medium that may have been changed while the system slept. */
	if (c->life.active && c->life.images == nc_sleep_images()) {
		all = !first &&
		      last == (c->geo.origin_size >> SECTOR_SHIFT) - 1;
		drop_range(c, &range);
		if (all)
			accept_origin(c);
		r = record_drop(c, all);
		nc_write_range_remove(&c->write_ranges, &range);
	} else if (c->life.active && c->hot.state == NEARCACHE_BYPASS) {
		/* Without writes a bypassed cache is not compared after a sleep. */
		r = -EIO;
	}
	if (r == -EIO)
		c->life.dirty_unrecorded = true;
	mutex_unlock(&c->life.lock);
	if (r == -EIO)
		DMERR("%s: invalidation not recorded: attach or format the cache device again",
		      nc_cache_name(c));
	return r;
}

/* Invalidate all cached data after the origin failed a flush: the origin may have lost acknowledged
 * writes that are cached.  Does nothing if the cache has not written.  Context: any.
 */
void nc_invalidate_lost(struct nc_cache *c)
{
	if (!READ_ONCE(c->origin.written))
		return;
	DMERR_LIMIT("%s: origin %pg failed a flush, it may have lost writes: dropping cached data",
		    nc_cache_name(c), c->origin.bdev);
	/* A device may report the error once and let the next flush succeed: keep all write-intent
	 * marks of this session, and let no data that is read from now on survive the session.
	 */
	WRITE_ONCE(c->meta->flush_failed, true);
	nc_intent_leave(c);
	queue_work(c->workers.completion, &c->workers.drop_all);
}

/* Does not take nc_life.lock, because a suspend waits for this work.  Need not record the drop:
 * after writes the superblock says active, or the write intent marks the written regions.
 */
void nc_invalidate_lost_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, workers.drop_all);

	nc_invalidate_all(c);
}
