/* SPDX-License-Identifier: GPL-2.0-only */
/* The read path: look up, serve, or hand to a fill. */
#ifndef NEARCACHE_READ_H
#define NEARCACHE_READ_H

#include <linux/blk_types.h>
#include <linux/workqueue.h>

struct nc_cache;
struct nc_io;
struct nc_span;
struct nc_target;

int nc_read_map(struct nc_target *t, struct bio *bio);
int nc_read_end_io(struct nc_target *t, struct bio *bio, blk_status_t *error);
struct nc_span nc_read_span(const struct nc_cache *c,
			    const struct bvec_iter *iter);
void nc_read_touch(struct nc_cache *c, u32 i);
bool nc_read_memory_fits(const struct nc_cache *c, const struct bio *bio,
			 u32 sectors);
u32 nc_read_sectors(const struct nc_cache *c, const struct bio *bio,
		    const struct nc_span *span);
void nc_read_take(struct nc_cache *c, struct bio *bio, u32 sectors);
void nc_read_restore(struct bio *bio, const struct nc_io *io);
void nc_read_again(struct nc_target *t, struct bio *bio);
void nc_read_resubmit(struct nc_target *t, struct bio *bio);
void nc_read_retry_work(struct work_struct *work);

#endif /* NEARCACHE_READ_H */
