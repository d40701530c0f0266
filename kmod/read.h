/* SPDX-License-Identifier: GPL-2.0-only */
/* The read path: look up, serve, or hand to a fill. */
#ifndef NEARCACHE_READ_H
#define NEARCACHE_READ_H

#include <linux/bio.h>
#include <linux/workqueue.h>

struct nc_cache;
struct nc_span;
struct nc_target;

enum nc_io_kind {
	NC_IO_ORIGIN,	/* goes to the origin, or is in a fill's hands */
	NC_IO_HIT,	/* on its way to the cache device, holds SRCU */
	NC_IO_BYPASS,	/* goes to the origin, uncached */
};

/**
 * struct nc_io - per-bio data
 * @target: table line, once the read is resubmitted
 * @iter: the read as it came, to ask the origin when the cache device fails
 * @flags: bio flags as they came
 * @kind: enum nc_io_kind
 * @failed_hit: the cache device failed the read
 * @counter: enum nearcache_counter of the reason, for NC_IO_BYPASS
 * @srcu: read-side index of nc_cache.srcu, for NC_IO_HIT
 */
struct nc_io {
	struct nc_target *target;
	struct bvec_iter iter;
	unsigned short flags;
	u8 kind;
	bool failed_hit;
	u8 counter;
	int srcu;
};

int nc_read_map(struct nc_target *t, struct bio *bio);
int nc_read_end_io(struct nc_target *t, struct bio *bio, blk_status_t *error);
u32 nc_read_sectors(const struct nc_cache *c, const struct bio *bio,
		    const struct nc_span *span);
void nc_read_take(struct nc_cache *c, struct bio *bio, u32 sectors);
void nc_read_resubmit(struct nc_target *t, struct bio *bio);
void nc_read_retry_work(struct work_struct *work);

#endif /* NEARCACHE_READ_H */
