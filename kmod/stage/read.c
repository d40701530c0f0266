// SPDX-License-Identifier: GPL-2.0-only
/* Reads: sectors in the overlay map come from the log, all others from the origin. */
#include "core/compat.h"
#include "stage/stage.h"

/* Source of the first sectors of a read. */
enum read_source {
	READ_ORIGIN,
	READ_LOG,
	READ_ZEROS,
	READ_GIVEN_UP,	/* the log, which the user has given up */
};

/* Find the source of a read's first sectors; set @sectors to their number.  Counts log reads. */
static enum read_source find_source(struct nc_stage *s, struct nc_stage_io *io, u64 sector,
				    u32 *sectors)
{
	enum read_source source = READ_ORIGIN;
	const struct nc_extent *x;
	unsigned long flags;

	spin_lock_irqsave(&s->map_lock, flags);
	x = nc_overlay_find(&s->overlay, sector);
	if (x && x->sector > sector) {
		*sectors = min_t(u64, *sectors, x->sector - sector);
	} else if (x) {
		*sectors = min_t(u64, *sectors, nc_extent_end(x) - sector);
		source = x->kind == NEARCACHE_STAGE_DATA ? READ_LOG : READ_ZEROS;
		io->at = x->at + (sector - x->sector);
	}
	if (source == READ_LOG && READ_ONCE(s->given_up))
		source = READ_GIVEN_UP;
	if (source == READ_LOG) {
		io->phase = s->phase;
		atomic_inc(&s->readers[io->phase]);
	}
	spin_unlock_irqrestore(&s->map_lock, flags);
	return source;
}

/* Can the origin serve a read of the log? */
static bool origin_has(struct nc_stage *s, const struct nc_stage_io *io)
{
	unsigned long flags;
	bool marked;

	spin_lock_irqsave(&s->lock, flags);
	marked = io->at < nc_place_sector(s->ring.marked.place);
	spin_unlock_irqrestore(&s->lock, flags);
	return marked;
}

/**
 * nc_stage_read_map() - map a read
 * @s: stage
 * @bio: with sectors
 *
 * A read that was sent to the origin may come back with or without a write that began after it:
 * both results are right, as read and write overlapped.
 *
 * Context: map of the target.
 * Return: DM_MAPIO_*.
 */
int nc_stage_read_map(struct nc_stage *s, struct bio *bio)
{
	struct nc_stage_io *io = dm_per_bio_data(bio, sizeof(*io));
	u64 sector = dm_target_offset(s->ti, bio->bi_iter.bi_sector);
	u32 sectors = bio_sectors(bio);
	enum read_source source = READ_ORIGIN;

	io->s = s;
	io->kind = NC_STAGE_IO_PASSED;
	/* A write is in the map before it is reported complete, so that a later read sees it. */
	if (READ_ONCE(s->mapped))
		source = find_source(s, io, sector, &sectors);
	else if (unlikely(READ_ONCE(s->given_up) && !READ_ONCE(s->started)))
		return DM_MAPIO_KILL;
	nc_bio_cut(bio, sectors);
	if (source == READ_ZEROS) {
		zero_fill_bio(bio);
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	if (source == READ_GIVEN_UP) {
		if (!origin_has(s, io))
			return DM_MAPIO_KILL;
		source = READ_ORIGIN;
	}
	if (source == READ_ORIGIN) {
		bio_set_dev(bio, s->origin->bdev);
		bio->bi_iter.bi_sector = sector;
		return DM_MAPIO_REMAPPED;
	}
	io->kind = NC_STAGE_IO_LOG_READ;
	io->iter = bio->bi_iter;
	io->iter.bi_sector = sector;
	io->flags = bio->bi_flags;
	bio_set_dev(bio, s->log->bdev);
	/* Ring space is used again only after the read has ended; a poller may end it late. */
	bio_clear_polled(bio);
	bio->bi_iter.bi_sector = nc_stage_log_sector(s, io->at);
	return DM_MAPIO_REMAPPED;
}

/**
 * nc_stage_read_end() - a read of the log has ended
 * @s: stage
 * @bio: NC_STAGE_IO_LOG_READ
 * @error: of the read
 *
 * Context: end_io of the target.
 * Return: DM_ENDIO_*.
 */
int nc_stage_read_end(struct nc_stage *s, struct bio *bio, blk_status_t *error)
{
	struct nc_stage_io *io = dm_per_bio_data(bio, sizeof(*io));
	unsigned int phase = io->phase;
	bool retry = false;
	unsigned long flags;

	if (likely(!*error)) {
		spin_lock_irqsave(&s->lock, flags);
		s->count.log_read_bytes += io->iter.bi_size;
		spin_unlock_irqrestore(&s->lock, flags);
	} else if (*error != BLK_STS_AGAIN) {
		retry = origin_has(s, io);
	}
	/* After this, the space may be used again. */
	if (atomic_dec_and_test(&s->readers[phase]))
		wake_up(&s->no_readers);
	if (!retry)
		return DM_ENDIO_DONE;
	io->kind = NC_STAGE_IO_PASSED;
	nc_retry_add(&s->retry, s->queue, bio);
	return DM_ENDIO_INCOMPLETE;
}

/* Send reads that failed on the log to the origin. */
void nc_stage_retry_work(struct work_struct *work)
{
	struct nc_stage *s = container_of(work, struct nc_stage, retry.work);
	struct bio_list bios = nc_retry_take(&s->retry);
	struct nc_stage_io *io;
	struct bio *bio;

	while ((bio = bio_list_pop(&bios))) {
		io = dm_per_bio_data(bio, sizeof(*io));
		nc_bio_restore(bio, &io->iter, io->flags);
		nc_bio_send(bio, s->origin->bdev);
	}
}

/* Wait until no read uses data that has left the overlay map.  Only one caller at a time. */
void nc_stage_wait_readers(struct nc_stage *s)
{
	unsigned int old = s->phase;

	spin_lock_irq(&s->map_lock);
	s->phase = !old;
	spin_unlock_irq(&s->map_lock);
	wait_event(s->no_readers, !atomic_read(&s->readers[old]));
}
