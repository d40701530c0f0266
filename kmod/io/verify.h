/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of cached data: against its checksums, and against the origin.
 */
#ifndef NEARCACHE_IO_VERIFY_H
#define NEARCACHE_IO_VERIFY_H

#include <linux/bio.h>
#include <linux/types.h>

struct nc_cache;
struct nc_fill;
struct nc_span;
struct nc_target;

/* What becomes of a hit on a cache that is checked. */
enum nc_check {
	NC_CHECK_DIRECT,	/* into the reader's own pages; judged there, if at all */
	NC_CHECK_STARTED,	/* taken: the data comes through our pages */
	NC_CHECK_MEMORY,	/* cannot be checked: no memory for it */
	NC_CHECK_P2P,		/* cannot be checked: another device's memory */
	NC_CHECK_GONE,		/* not valid any more */
};

enum nc_check nc_check_hit(struct nc_target *t, struct bio *bio,
			   struct nc_span *span, u32 slot, int hold);
int nc_check_end_io(struct nc_target *t, struct bio *bio);
void nc_check_fill(struct nc_fill *f);
enum nc_check nc_check_scrub(struct nc_target *t, const struct nc_span *span,
			     bool compare);

#endif /* NEARCACHE_IO_VERIFY_H */
