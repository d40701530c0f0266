/* SPDX-License-Identifier: GPL-2.0-only */
/* The read path: look up a read, then remap it, hand it to a fill, or bypass the cache. */
#ifndef NEARCACHE_IO_READ_H
#define NEARCACHE_IO_READ_H

#include <linux/bio.h>
#include <linux/workqueue.h>

#include "cache.h"
#include "io/fill.h"
#include "core/bio.h"

int nc_read_map(struct nc_target *t, struct bio *bio);
int nc_read_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
		   blk_status_t *error);
struct nc_span nc_read_span(const struct nc_cache *c,
			    const struct bvec_iter *iter);
void nc_read_touch(struct nc_cache *c, u32 i);
bool nc_read_cached(struct nc_cache *c, struct nc_span *span);
bool nc_read_memory_fits(const struct nc_cache *c, const struct bio *bio,
			 u32 sectors);
void nc_read_take(struct nc_cache *c, struct bio *bio, u32 sectors);
void nc_read_restore(struct bio *bio, const struct nc_io *io);
void nc_read_again(struct nc_target *t, struct bio *bio);
void nc_read_resubmit(struct nc_target *t, struct bio *bio);
void nc_read_retry_work(struct work_struct *work);

/* Sectors of @bio that lie in @span, in which it starts. */
static inline u32 nc_read_sectors(const struct nc_cache *c, const struct bio *bio,
				  const struct nc_span *span)
{
	sector_t end = (span->block << c->block_shift) +
		       ((sector_t)(span->last + 1) << c->sub_shift);

	return min_t(sector_t, end - bio->bi_iter.bi_sector, bio_sectors(bio));
}

/* Count a hit, for the cache and its label.  @iter: the read as it came.  Context: any. */
static inline void nc_read_count_hit(struct nc_cache *c, const struct nc_io *io,
				     const struct bvec_iter *iter)
{
	nc_count(c, HITS);
	nc_count_add(c, HIT_BYTES, iter->bi_size);
	if (likely(!io->label))
		return;
	if (likely(io->label != NC_LABEL_MIXED))
		nc_labels_count_hit(&c->ranges.labels, io->label, iter->bi_size);
	else
		nc_ranges_count_mixed(c, iter->bi_sector, iter->bi_size);
}

/**
 * nc_read_plain_over() - complete a plain hit
 * @c: live cache
 * @io: per-bio data of a completed bio
 * @error: its status
 *
 * Context: any, including interrupts.
 * Return: true if the bio was a successful plain hit; it is counted and needs nothing more.
 */
static inline bool nc_read_plain_over(struct nc_cache *c, const struct nc_io *io,
				      blk_status_t error)
{
	if (unlikely(io->kind != NC_IO_PLAIN || error))
		return false;
	nc_holds_give(&c->holds, io->hold);
	nc_read_count_hit(c, io, &io->iter);
	return true;
}

#endif /* NEARCACHE_IO_READ_H */
