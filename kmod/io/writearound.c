// SPDX-License-Identifier: GPL-2.0-only
/*
 * The write path.  Before a bio changes the origin, the cached data of its sectors is
 * invalidated; doc/writing.md has the protocol and proves that it is sufficient.
 *
 * map() never sleeps, and allocates nothing that a write depends on: a file system above may
 * have to write to free memory.
 */
#include "cache.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "core/bio.h"
#include "meta/meta.h"
#include "io/observe.h"
#include "ranges/lookup.h"
#include "evict/reclaim.h"
#include "io/writethrough.h"
#include "io/writearound.h"

/* Sub-blocks of @block that the sectors from @first to @last touch. */
u64 nc_write_bits(const struct nc_cache *c, u64 block, sector_t first,
		  sector_t last)
{
	u64 start = block << c->block_shift;
	u64 end = start + (1U << c->block_shift) - 1;

	return GENMASK_ULL((min(last, end) - start) >> c->sub_shift,
			   (max(first, start) - start) >> c->sub_shift);
}

/*
 * Invalidate sub-blocks that are about to change on the origin, and keep fills from
 * publishing them.  Returns those that were valid.  The bucket lock of the block is held and
 * the sectors are in c->inflight.  @empty: set if no valid sub-block is left in the slot.
 */
static u64 drop_bits(struct nc_cache *c, struct nc_stripe *stripe, u64 block,
		     u64 bits, bool *empty)
{
	u32 i = nc_index_find(&c->index, block);
	u64 dropped;

	lockdep_assert_held(&stripe->lock);
	*empty = false;
	nc_fill_mark_stale(stripe, block, bits);
	if (i == NC_NIL)
		return 0;
	dropped = nc_invalidate_bits(c, stripe, i, bits);
	*empty = dropped && nc_reclaim_may_empty(&c->index.slots[i]);
	return dropped;
}

/* Count sub-blocks that were invalidated and that no update will publish. */
static void count_dropped(struct nc_cache *c, u64 dropped, bool empty)
{
	if (dropped)
		nc_count_add(c, INVALIDATED_BYTES,
			     hweight64(dropped) * c->geo.subblock_size);
	if (empty)
		nc_reclaim_emptied(c);
}

/**
 * nc_write_drop_block() - invalidate the given sectors in one block
 * @c: live cache
 * @block: origin block
 * @first: first sector, in that block or before
 * @last: last sector, in that block or behind
 *
 * Context: any except interrupts; the sectors are in nc_cache.inflight.
 */
void nc_write_drop_block(struct nc_cache *c, u64 block, sector_t first,
			 sector_t last)
{
	struct nc_stripe *stripe = nc_index_stripe(&c->index, block);
	u64 bits = nc_write_bits(c, block, first, last);
	u64 dropped;
	bool empty;

	spin_lock(&stripe->lock);
	dropped = drop_bits(c, stripe, block, bits, &empty);
	spin_unlock(&stripe->lock);
	count_dropped(c, dropped, empty);
}

/* From here to nc_write_end_io() no fill reads these sectors. */
static void enter(struct nc_cache *c, struct nc_io *io, const struct bio *bio)
{
	io->kind = NC_IO_WRITE;
	io->range.first = bio->bi_iter.bi_sector;
	io->range.last = bio_end_sector(bio) - 1;
	if (!READ_ONCE(c->origin_written))
		WRITE_ONCE(c->origin_written, true);
	nc_inflight_add(&c->inflight, &io->range);
}

/* Write around the cache: invalidate, then remap the bio to the origin. */
static int around(struct nc_target *t, struct bio *bio, enum nearcache_verdict verdict)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_cache *c = t->cache;
	u64 block;

	nc_observe(c, bio, verdict);
	enter(c, io, bio);
	bio_set_dev(bio, t->origin->bdev);
	for (block = io->range.first >> c->block_shift;
	     block <= io->range.last >> c->block_shift; block++)
		nc_write_drop_block(c, block, io->range.first, io->range.last);
	return nc_intent_admit(c, &c->intent, bio) ? DM_MAPIO_REMAPPED :
						     DM_MAPIO_SUBMITTED;
}

/* Sectors from the start of @bio up to the first later block that wants an update. */
static u32 around_sectors(struct nc_cache *c, const struct bio *bio)
{
	sector_t end = bio_end_sector(bio);
	u64 block = bio->bi_iter.bi_sector >> c->block_shift;

	while (++block << c->block_shift < end)
		if (nc_update_wanted(c, block << c->block_shift, end))
			return (block << c->block_shift) -
			       bio->bi_iter.bi_sector;
	return end - bio->bi_iter.bi_sector;
}

static void cut(struct bio *bio, u32 sectors)
{
	if (sectors < bio_sectors(bio))
		dm_accept_partial_bio(bio, sectors);
}

/* Write through the cache: copy the data into an update; without one, write around. */
static int update(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_cache *c = t->cache;
	u64 block = bio->bi_iter.bi_sector >> c->block_shift;
	struct nc_stripe *stripe = nc_index_stripe(&c->index, block);
	struct nc_fill *f;
	u64 dropped;
	bool listed, empty;

	cut(bio, nc_update_sectors(c, bio));
	f = nc_update_alloc(t, bio);
	if (!f) {
		nc_count(c, UPDATES_SKIPPED);
		return around(t, bio, NEARCACHE_VERDICT_WRITEAROUND);
	}
	enter(c, io, bio);
	spin_lock(&stripe->lock);
	dropped = drop_bits(c, stripe, block,
			    nc_write_bits(c, block, io->range.first,
					  io->range.last),
			    &empty);
	listed = nc_update_list(f, stripe, &io->range, dropped);
	spin_unlock(&stripe->lock);
	if (listed) {
		nc_update_send(f);
		return DM_MAPIO_SUBMITTED;
	}
	nc_update_cancel(c, f);
	nc_count(c, UPDATES_SKIPPED);
	count_dropped(c, dropped, empty);
	nc_observe(c, bio, NEARCACHE_VERDICT_WRITEAROUND);
	bio_set_dev(bio, t->origin->bdev);
	return nc_intent_admit(c, &c->intent, bio) ? DM_MAPIO_REMAPPED :
						     DM_MAPIO_SUBMITTED;
}

/* Does the classifier, if any, admit the data of a write? */
static bool admits(struct nc_target *t, struct bio *bio, struct nc_io *io)
{
	bool through = t->mode == NEARCACHE_WRITETHROUGH;

	return nc_stream_admits(t->cache, bio, io, NULL,
				through ? NEARCACHE_VERDICT_UPDATE :
					  NEARCACHE_VERDICT_WRITEAROUND);
}

/* Sectors from the start of @bio up to the first block that is pinned unlike its first block. */
static u32 alike_sectors(struct nc_cache *c, const struct bio *bio, bool *pinned)
{
	sector_t end = bio_end_sector(bio);
	u64 block = bio->bi_iter.bi_sector >> c->block_shift;

	*pinned = nc_ranges_pinned(c, block);
	if (!nc_ranges_any(c))
		return bio_sectors(bio);
	while (++block << c->block_shift < end)
		if (nc_ranges_pinned(c, block) != *pinned)
			return (block << c->block_shift) - bio->bi_iter.bi_sector;
	return bio_sectors(bio);
}

static int through(struct nc_target *t, struct bio *bio, struct nc_io *io)
{
	struct nc_cache *c = t->cache;
	bool wanted = true;

	if (unlikely(!admits(t, bio, io)))
		cut(bio, alike_sectors(c, bio, &wanted));
	if (likely(READ_ONCE(c->state) == NEARCACHE_NORMAL) && wanted) {
		if (nc_update_wanted(c, bio->bi_iter.bi_sector,
				     bio_end_sector(bio)))
			return update(t, bio);
		cut(bio, around_sectors(c, bio));
	}
	nc_count(c, UPDATES_SKIPPED);
	return around(t, bio, NEARCACHE_VERDICT_WRITEAROUND);
}

/**
 * nc_write_map() - map a bio that is not a read
 * @t: target
 * @bio: dm's clone
 *
 * Context: submitter's; does not sleep.
 * Return: DM_MAPIO_*.
 */
int nc_write_map(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

	io->observed = false;
	io->told = false;
	/* A flush, in read-only mode as well: earlier writes may not be durable.  No caller sends
	 * other empty bios.
	 */
	if (!bio_sectors(bio)) {
		io->kind = op_is_flush(bio->bi_opf) ? NC_IO_FLUSH : NC_IO_ORIGIN;
		bio_set_dev(bio, t->origin->bdev);
		return DM_MAPIO_REMAPPED;
	}
	if (t->mode == NEARCACHE_READ_ONLY)
		return DM_MAPIO_KILL;
	switch (bio_op(bio)) {
	case REQ_OP_WRITE:
		nc_prefetch_wrote(t->cache, bio->bi_iter.bi_size);
		if (t->mode == NEARCACHE_WRITETHROUGH)
			return through(t, bio, io);
		admits(t, bio, io);
		return around(t, bio, NEARCACHE_VERDICT_WRITEAROUND);
	case REQ_OP_DISCARD:
		return around(t, bio, NEARCACHE_VERDICT_DISCARD);
	case REQ_OP_WRITE_ZEROES:
		return around(t, bio, NEARCACHE_VERDICT_ZEROES);
	default:
		return DM_MAPIO_KILL;
	}
}

static void count_done(struct nc_cache *c, const struct bio *bio, u64 bytes)
{
	switch (bio_op(bio)) {
	case REQ_OP_DISCARD:
		nc_count(c, DISCARDS);
		nc_count_add(c, DISCARD_BYTES, bytes);
		break;
	case REQ_OP_WRITE_ZEROES:
		nc_count(c, ZEROES);
		nc_count_add(c, ZERO_BYTES, bytes);
		break;
	default:
		nc_count(c, WRITES);
		nc_count_add(c, WRITE_BYTES, bytes);
	}
}

/**
 * nc_write_end_io() - handle the origin's completion of a write or flush
 * @t: target
 * @bio: dm's clone
 * @io: its per-bio data
 * @status: its status; reports the error of an earlier flush by the module, if one is owed
 *
 * Context: any, including interrupts.
 * Return: DM_ENDIO_*.
 */
int nc_write_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
		    blk_status_t *status)
{
	struct nc_cache *c = t->cache;
	blk_status_t error = *status;

	if (io->kind == NC_IO_WRITE)
		nc_inflight_remove(&c->inflight, &io->range);
	/* A NOWAIT write that got BLK_STS_AGAIN comes again and is counted then. */
	if (error == BLK_STS_AGAIN)
		return DM_ENDIO_DONE;
	if (error && op_is_flush(bio->bi_opf))
		nc_invalidate_lost(c);
	if (!error && io->kind == NC_IO_FLUSH && READ_ONCE(c->flush_owed) &&
	    xchg(&c->flush_owed, false))
		error = *status = BLK_STS_IOERR;
	if (error)
		nc_count(c, WRITE_ERRORS);
	else if (io->kind == NC_IO_FLUSH)
		nc_count(c, FLUSHES);
	else if (io->kind == NC_IO_WRITE)
		count_done(c, bio, (io->range.last - io->range.first + 1)
					   << SECTOR_SHIFT);
	return DM_ENDIO_DONE;
}
