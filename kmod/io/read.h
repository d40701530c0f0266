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
bool nc_read_cached(struct nc_cache *c, struct nc_span *span);
void nc_read_retry_work(struct work_struct *work);

/* Count a hit for the cache and the block's label.  @iter: bi_iter of the hit.  Context: any. */
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
 * @error: status of that bio
 *
 * Context: any, including interrupts.
 * Return: true for a plain hit that succeeded.  The hit was counted; the caller ends the bio.
 * Otherwise the caller calls nc_read_end_io().
 */
static inline bool nc_read_plain_over(struct nc_cache *c, const struct nc_io *io,
				      blk_status_t error)
{
	if (unlikely(io->kind != NC_IO_PLAIN || error))
		return false;
	nc_hit_unlock(&c->hot.hit_srcu, io->hold);
	nc_read_count_hit(c, io, &io->iter);
	return true;
}

#endif /* NEARCACHE_IO_READ_H */
