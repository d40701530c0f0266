// SPDX-License-Identifier: GPL-2.0-only
/*
 * The write path.  Before a bio changes the origin, the cached data of its sectors is
 * invalidated; doc/writing.md has the protocol and proves that it is sufficient.
 *
 * map() never sleeps, and allocates nothing that a write depends on: a file system above may
 * be able to free memory only after this write.
 */
#include "cache.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "core/bio.h"
#include "meta/meta.h"
#include "io/trace_io.h"
#include "ranges/lookup.h"
#include "evict/free_slots.h"
#include "io/writethrough.h"
#include "io/write_path.h"

/* Add a write to nc_cache.write_ranges: until nc_write_end_io() no fill reads its sectors. */
static void enter_write(struct nc_cache *c, struct nc_io *io, const struct bio *bio)
{
	io->kind = NC_IO_WRITE;
	io->range.first = bio->bi_iter.bi_sector;
	io->range.last = bio_end_sector(bio) - 1;
	if (!READ_ONCE(c->origin.written))
		WRITE_ONCE(c->origin.written, true);
	nc_write_range_add(&c->write_ranges, &io->range);
}

/* Write around the cache: invalidate, then remap the bio to the origin. */
static int write_around(struct nc_target *t, struct bio *bio, enum nearcache_verdict verdict)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_cache *c = t->cache;
	u64 block;

	nc_observe(c, bio, verdict);
	enter_write(c, io, bio);
	bio_set_dev(bio, t->origin->bdev);
	for (block = io->range.first >> c->hot.block_shift;
	     block <= io->range.last >> c->hot.block_shift; block++)
		nc_invalidate_block(c, block, io->range.first, io->range.last);
	return nc_intent_admit(c, &c->intent, bio) ? DM_MAPIO_REMAPPED :
						     DM_MAPIO_SUBMITTED;
}

/* Number of sectors of @bio before the next block, after the first, that is nc_update_wanted(). */
static u32 around_sectors(struct nc_cache *c, const struct bio *bio)
{
	sector_t end = bio_end_sector(bio);
	u64 block = bio->bi_iter.bi_sector >> c->hot.block_shift;

	while (++block << c->hot.block_shift < end)
		if (nc_update_wanted(c, block << c->hot.block_shift, end))
			return (block << c->hot.block_shift) -
			       bio->bi_iter.bi_sector;
	return end - bio->bi_iter.bi_sector;
}

/* Write the data of the first block through the cache; around the cache if no update can start. */
static int write_update(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_cache *c = t->cache;
	u64 block = bio->bi_iter.bi_sector >> c->hot.block_shift;
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);
	struct nc_fill *f;
	u64 dropped;
	bool listed, empty;

	nc_bio_cut(bio, nc_update_sectors(c, bio));
	f = nc_update_alloc(t, bio);
	if (!f) {
		nc_count(c, UPDATES_SKIPPED);
		return write_around(t, bio, NEARCACHE_VERDICT_WRITEAROUND);
	}
	enter_write(c, io, bio);
	spin_lock(&bucket->lock);
	dropped = nc_invalidate_subblocks(c, bucket, block,
					  nc_invalidate_mask(c, block, io->range.first,
							     io->range.last),
					  &empty);
	listed = nc_update_list(f, bucket, &io->range, dropped);
	spin_unlock(&bucket->lock);
	if (listed) {
		nc_update_send(f);
		return DM_MAPIO_SUBMITTED;
	}
	nc_update_cancel(c, f);
	nc_count(c, UPDATES_SKIPPED);
	nc_invalidate_count(c, dropped, empty);
	nc_observe(c, bio, NEARCACHE_VERDICT_WRITEAROUND);
	bio_set_dev(bio, t->origin->bdev);
	return nc_intent_admit(c, &c->intent, bio) ? DM_MAPIO_REMAPPED :
						     DM_MAPIO_SUBMITTED;
}

/* Does the classifier, if there is one, let the data of a write be cached? */
static bool write_admitted(struct nc_target *t, struct bio *bio, struct nc_io *io)
{
	bool through = t->mode == NEARCACHE_WRITETHROUGH;

	return nc_stream_admits(t->cache, bio, io, NULL,
				through ? NEARCACHE_VERDICT_UPDATE :
					  NEARCACHE_VERDICT_WRITEAROUND);
}

/* Number of leading sectors whose blocks are all pinned (sets @pinned) or all not pinned. */
static u32 alike_sectors(struct nc_cache *c, const struct bio *bio, bool *pinned)
{
	sector_t end = bio_end_sector(bio);
	u64 block = bio->bi_iter.bi_sector >> c->hot.block_shift;

	*pinned = nc_ranges_pinned(c, block);
	if (!nc_ranges_any(c))
		return bio_sectors(bio);
	while (++block << c->hot.block_shift < end)
		if (nc_ranges_pinned(c, block) != *pinned)
			return (block << c->hot.block_shift) - bio->bi_iter.bi_sector;
	return bio_sectors(bio);
}

static int write_through(struct nc_target *t, struct bio *bio, struct nc_io *io)
{
	struct nc_cache *c = t->cache;
	bool wanted = true;

	if (unlikely(!write_admitted(t, bio, io)))
		nc_bio_cut(bio, alike_sectors(c, bio, &wanted));
	if (likely(READ_ONCE(c->hot.state) == NEARCACHE_NORMAL) && wanted) {
		if (nc_update_wanted(c, bio->bi_iter.bi_sector,
				     bio_end_sector(bio)))
			return write_update(t, bio);
		nc_bio_cut(bio, around_sectors(c, bio));
	}
	nc_count(c, UPDATES_SKIPPED);
	return write_around(t, bio, NEARCACHE_VERDICT_WRITEAROUND);
}

/* Map a write, discard, write-zeroes or flush.  Does not sleep.  Returns DM_MAPIO_*. */
int nc_write_map(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

	io->observed = false;
	io->reported = false;
	/* Pass a flush even in read-only mode: earlier writes may not be durable.  No caller sends
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
		nc_demand_see_write(&t->cache->origin.demand, bio->bi_iter.bi_size);
		if (t->mode == NEARCACHE_WRITETHROUGH)
			return write_through(t, bio, io);
		write_admitted(t, bio, io);
		return write_around(t, bio, NEARCACHE_VERDICT_WRITEAROUND);
	case REQ_OP_DISCARD:
		return write_around(t, bio, NEARCACHE_VERDICT_DISCARD);
	case REQ_OP_WRITE_ZEROES:
		return write_around(t, bio, NEARCACHE_VERDICT_ZEROES);
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
 * @io: per-bio data of @bio
 * @status: status of @bio; set to an error if the module's own flush failed (nc_origin.flush_owed)
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
		nc_write_range_remove(&c->write_ranges, &io->range);
	/* A NOWAIT write that got BLK_STS_AGAIN is submitted again, and counted then. */
	if (error == BLK_STS_AGAIN)
		return DM_ENDIO_DONE;
	if (error && op_is_flush(bio->bi_opf))
		nc_invalidate_lost(c);
	if (!error && io->kind == NC_IO_FLUSH && READ_ONCE(c->origin.flush_owed) &&
	    xchg(&c->origin.flush_owed, false))
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
