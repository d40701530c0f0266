/* SPDX-License-Identifier: GPL-2.0-only */
/* The read path: look up, serve, or hand to a fill. */
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

/**
 * nc_read_sectors() - how much of a read lies in a span
 * @c: live cache
 * @bio: read that starts in the span
 * @span: sub-blocks
 *
 * Return: sectors.
 */
static inline u32 nc_read_sectors(const struct nc_cache *c, const struct bio *bio,
				  const struct nc_span *span)
{
	sector_t end = (span->block << c->block_shift) +
		       ((sector_t)(span->last + 1) << c->sub_shift);

	return min_t(sector_t, end - bio->bi_iter.bi_sector, bio_sectors(bio));
}

/**
 * nc_read_count_hit() - the cache device was asked for a read
 * @c: live cache
 * @io: of the read
 * @iter: the read as it came
 *
 * Context: any.
 */
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
 * nc_read_plain_over() - is this the end of a hit of which nothing is left to do?
 * @c: live cache
 * @io: of a bio that completed
 * @error: its status
 *
 * Context: any, interrupts too.
 * Return: whether it was; then it is counted.
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
