// SPDX-License-Identifier: GPL-2.0-only
/*
 * Updates (mode writethrough).  An update copies the data of a write into the pages of a fill.  It
 * writes the origin from these pages, and then the slot.  So origin and cache agree even if the
 * writer's own pages change meanwhile (mmap, a buggy driver).
 *
 * The writer's bio completes when the origin has the data; after that the update continues as
 * any fill.  A sub-block that the write covers in part is updated in place if it was valid.  So
 * a write may begin and end inside a sub-block, and only parts that are not aligned to the
 * cache device's logical blocks stay out of the cache.  With checksums, partly covered
 * sub-blocks stay out as well, because a checksum covers the whole sub-block.
 */
#include <linux/memremap.h>

#include "cache.h"
#include "io/fill.h"
#include "core/write_range.h"
#include "io/trace_io.h"
#include "evict/free_slots.h"
#include "io/writethrough.h"

/* Flags of the writer's bio that the update's write to the origin keeps. */
#define KEPT_FLAGS	(REQ_FAILFAST_MASK | REQ_SYNC | REQ_META | REQ_PRIO | \
			 REQ_IDLE | REQ_FUA | REQ_NOWAIT | REQ_BACKGROUND | \
			 REQ_SWAP)

/* Does a write cover at least one whole sub-block of its first block? */
static bool covers_subblock(const struct nc_cache *c, sector_t first,
			    sector_t end)
{
	u32 size = 1U << c->hot.sub_shift;
	sector_t start = round_up(first, size);
	sector_t block_end = round_down(first, 1U << c->hot.block_shift) +
			     (1U << c->hot.block_shift);

	if (end == c->geo.origin_size >> SECTOR_SHIFT)
		end = round_up(end, size);
	return start + size <= min(end, block_end);
}

/* Is the first or last sub-block of the data valid, so that it can be updated in place? */
static bool ends_valid(const struct nc_cache *c, u64 valid, sector_t first,
		       sector_t end)
{
	u32 mask = (1U << c->hot.block_shift) - 1;
	u32 start = (u32)first & mask;
	u32 last = min_t(sector_t, start + (end - first) - 1, mask);

	return valid & (BIT_ULL(start >> c->hot.sub_shift) |
			BIT_ULL(last >> c->hot.sub_shift));
}

/**
 * nc_update_wanted() - decide whether data of a write should be cached
 * @c: live cache
 * @first: first sector of the data
 * @end: sector behind the last one; only the part in the first block counts
 *
 * Data that covers a whole sub-block is wanted if the block has a slot or nc_slots_spare().  Other
 * data is wanted if it covers a part of a valid sub-block.  No data is wanted if it begins inside a
 * logical block of the cache device, or if nc_ranges_keep_out().  Takes no lock, so a hint.
 *
 * Context: any.
 */
bool nc_update_wanted(struct nc_cache *c, sector_t first, sector_t end)
{
	bool whole = covers_subblock(c, first, end);
	u64 block = first >> c->hot.block_shift;
	bool wanted = false;
	int hold;
	u32 i;

	/* place_update() would reject a misaligned start. */
	if (first & c->hot.lbs_mask || nc_ranges_keep_out(c, first >> c->hot.block_shift))
		return false;
	if (whole && nc_slots_spare(c))
		return true;
	hold = nc_hit_lock(&c->hot.hit_srcu, nc_index_hash(&c->index, block));
	i = nc_index_find(&c->index, block);
	if (i != NC_NIL)
		wanted = whole ||
			 (!nc_sums_present(&c->sums) &&
			  ends_valid(c, READ_ONCE(c->index.slots[i].valid),
				     first, end));
	nc_hit_unlock(&c->hot.hit_srcu, hold);
	return wanted;
}

/* Number of sectors of a write that one update takes: at most to the end of the block, and at most
 * the size of a fill.
 */
u32 nc_update_sectors(const struct nc_cache *c, const struct bio *bio)
{
	sector_t start = bio->bi_iter.bi_sector;
	sector_t end = min(bio_end_sector(bio),
			   round_down(start, 1U << c->hot.block_shift) +
				   (1U << c->hot.block_shift));
	/* If the write is longer, the update ends with a whole sub-block. */
	sector_t most = round_down(start + (nc_fill_bytes_max(c, true) >>
					    SECTOR_SHIFT),
				   1U << c->hot.sub_shift);

	if (most <= start)
		most = round_up(start + 1, 1U << c->hot.sub_shift);
	return min(end, most) - start;
}

static void update_end_io(struct bio *bio)
{
	struct nc_fill *f = bio->bi_private;
	struct bio *writer = f->writer;

	f->writer = NULL;
	writer->bi_status = bio->bi_status;
	/* Queue the fill before completing the writer: the fill may end before queue_work()
	 * returns, and then only the incomplete writer keeps the dm table and the cache alive.
	 */
	queue_work(f->target->cache->workers.cache, &f->work);
	bio_endio(writer);
}

/* Account the result of an update. */
static void update_done(struct nc_fill *f, u64 bits, int error)
{
	struct nc_cache *c = f->target->cache;

	nc_count_add(c, INVALIDATED_BYTES,
		     hweight64(f->dropped & ~bits) * c->geo.subblock_size);
	if (!bits) {
		nc_count(c, UPDATES_SKIPPED);
		if (f->dropped && nc_slot_is_empty(&c->index.slots[f->slot]))
			nc_slots_emptied(c);
		return;
	}
	nc_count(c, UPDATES);
	nc_count_add(c, UPDATE_BYTES,
		     min_t(u64, f->cache_bytes, hweight64(bits) * c->geo.subblock_size));
}

static const struct nc_fill_ops update_fill_ops = {
	.write = true,
	.done = update_done,
};

/**
 * nc_update_alloc() - copy the payload of a write into an update
 * @t: target
 * @bio: write, cut to nc_update_sectors()
 *
 * Context: map; does not sleep.
 * Return: an update on no list; NULL without memory, or if the payload is memory of another
 * device, which must not be copied.
 */
struct nc_fill *nc_update_alloc(struct nc_target *t, struct bio *bio)
{
	struct nc_fill *f;

	if (unlikely(is_pci_p2pdma_page(bio_page(bio))))
		return NULL;
	f = nc_fill_alloc(t, &update_fill_ops, bio->bi_iter.bi_sector, bio->bi_iter.bi_size, true);
	if (!f)
		return NULL;
	f->writer = bio;
	f->state = NC_FILL_SENDING;
	nc_fill_init_bio(f, t->origin->bdev,
			 REQ_OP_WRITE | (bio->bi_opf & KEPT_FLAGS), f->sector, update_end_io);
	f->bio.bi_ioprio = bio->bi_ioprio;
	nc_copy_write_hint(&f->bio, bio);
	bio_copy_data(&f->bio, bio);
	return f;
}

/* Free an update that is on no list. */
void nc_update_cancel(struct nc_cache *c, struct nc_fill *f)
{
	bio_uninit(&f->bio);
	nc_fill_free(c, f);
}

/* Can the sub-block with sector @at of the block, where the data begins or ends, be updated in
 * place although the data covers it in part?  @dropped: sub-blocks that were valid.
 */
static bool can_update(const struct nc_cache *c, u32 at, u64 dropped)
{
	return dropped & BIT_ULL(at >> c->hot.sub_shift) &&
	       !(at & c->hot.lbs_mask) && !nc_sums_present(&c->sums);
}

/* First sector of the block that goes to the slot; the data begins at sector @start.  A sub-block
 * that the data covers in part is included only if can_update().
 */
static u32 slot_start(const struct nc_cache *c, u32 start, u64 dropped)
{
	u32 mask = (1U << c->hot.sub_shift) - 1;

	if (!(start & mask) || can_update(c, start, dropped))
		return start;
	return (start | mask) + 1;
}

/* Sector behind the last one that goes to the slot, as slot_start(); the data ends at @end.  The
 * origin's end counts as the end of a sub-block, because the pages have zeros behind it.
 */
static u32 slot_end(const struct nc_cache *c, u32 end, bool origin_ends,
		    u64 dropped)
{
	u32 mask = (1U << c->hot.sub_shift) - 1;

	if (origin_ends)
		return round_up(end, mask + 1);
	if (!(end & mask) || can_update(c, end, dropped))
		return end;
	return end & ~mask;
}

/* Compute which part of the data goes to the slot.  Returns false if no part can. */
static bool place_update(struct nc_cache *c, struct nc_fill *f, u64 dropped)
{
	sector_t block = round_down(f->sector, 1U << c->hot.block_shift);
	u32 start = f->sector - block;
	u32 end = start + (f->bytes >> SECTOR_SHIFT);
	bool origin_ends = (f->sector << SECTOR_SHIFT) + f->bytes ==
			   c->geo.origin_size;
	u32 from = slot_start(c, start, dropped);
	u32 to = slot_end(c, end, origin_ends, dropped);

	if (from >= to)
		return false;
	/* Segments of the slot's part must be whole logical blocks of the cache device. */
	if ((from - start) & c->hot.lbs_mask)
		return false;
	f->entry.span.block = block >> c->hot.block_shift;
	f->entry.span.first = from >> c->hot.sub_shift;
	f->entry.span.last = (to - 1) >> c->hot.sub_shift;
	f->skip = (from - start) << SECTOR_SHIFT;
	f->cache_bytes = (to - from) << SECTOR_SHIFT;
	return true;
}

/* Does another fill, or a write except @own, cover a sub-block of the update? */
static bool update_conflicts(struct nc_cache *c, const struct nc_fill *f,
			     const struct nc_bucket_lock *bucket, const struct nc_write_range *own)
{
	u64 block = f->entry.span.block << c->hot.block_shift;
	u64 first = block + ((u64)f->entry.span.first << c->hot.sub_shift);
	u64 last = block + ((u64)(f->entry.span.last + 1) << c->hot.sub_shift) - 1;

	return nc_fill_busy(bucket, &f->entry.span) ||
	       !nc_write_range_alone(&c->write_ranges, own, first, last);
}

/* Return the block's slot, or give the block a free slot if nc_slots_spare(); otherwise NC_NIL. */
static u32 slot_for(struct nc_cache *c, struct nc_bucket_lock *bucket, u64 block)
{
	u32 i = nc_index_find(&c->index, block);
	struct nc_slot *slot;

	if (i != NC_NIL)
		nc_slots_refill(c, bucket, i);
	if (i != NC_NIL || !nc_slots_spare(c) || nc_ranges_keep_out(c, block))
		return i;
	i = nc_slots_take(c, block, NC_SLOT_READER);
	if (i == NC_NIL)
		return i;
	slot = &c->index.slots[i];
	slot->flags |= NC_SLOT_WRITTEN;
	WRITE_ONCE(slot->stamp,
		   (READ_ONCE(c->hot.now) + NC_STAMP_AHEAD) & NC_STAMP_TICK);
	return i;
}

/**
 * nc_update_list() - give an update its slot and put it on the list of its bucket lock
 * @f: from nc_update_alloc()
 * @bucket: bucket lock of the block, held since the valid bits were cleared
 * @own: write range of the write, in nc_cache.write_ranges
 * @dropped: sub-blocks that the write invalidated
 *
 * Context: map; the bucket lock is held.
 * Return: true: the caller calls nc_update_send(); false: the data must stay out of the cache, and
 * the caller calls nc_update_cancel().
 */
bool nc_update_list(struct nc_fill *f, struct nc_bucket_lock *bucket,
		    const struct nc_write_range *own, u64 dropped)
{
	struct nc_cache *c = f->target->cache;

	lockdep_assert_held(&bucket->lock);
	if (!place_update(c, f, dropped) || update_conflicts(c, f, bucket, own))
		return false;
	f->slot = slot_for(c, bucket, f->entry.span.block);
	if (f->slot == NC_NIL)
		return false;
	f->dropped = dropped;
	nc_fill_list(f, bucket);
	return true;
}

/*
 * Submit the write of a listed update to the origin.  The update owns the writer's bio, which
 * completes with the origin's status.  Context: map of the writer.
 */
void nc_update_send(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;

	/* Before submit_bio_noacct(): afterwards the update and the writer's bio may be gone. */
	nc_observe(c, f->writer, NEARCACHE_VERDICT_UPDATE);
	bio_clear_polled(f->writer);
	if (nc_intent_admit(c, &c->intent, &f->bio))
		submit_bio_noacct(&f->bio);
}
