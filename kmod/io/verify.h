/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of cached data: against its checksums, and against the origin.
 */
#ifndef NEARCACHE_IO_VERIFY_H
#define NEARCACHE_IO_VERIFY_H

#include <linux/bio.h>
#include <linux/types.h>

struct nc_cache;
struct nc_span;
struct nc_target;

/* What becomes of a hit on a cache that is checked. */
enum nc_verify {
	NC_VERIFY_DIRECT,	/* into the reader's own pages; judged there, if at all */
	NC_VERIFY_STARTED,	/* taken: the data comes through our pages */
	NC_VERIFY_MEMORY,	/* cannot be checked: no memory for it */
	NC_VERIFY_P2P,		/* cannot be checked: another device's memory */
	NC_VERIFY_GONE,		/* not valid any more */
};

typedef void nc_verify_done_fn(struct nc_cache *c, u32 bytes);

enum nc_verify nc_verify_hit(struct nc_target *t, struct bio *bio,
			     struct nc_span *span, u32 slot, int hold);
int nc_verify_end_io(struct nc_target *t, struct bio *bio);
enum nc_verify nc_verify_scrub(struct nc_target *t, const struct nc_span *span,
			       bool compare, nc_verify_done_fn *done);

#endif /* NEARCACHE_IO_VERIFY_H */
