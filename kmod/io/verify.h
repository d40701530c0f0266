/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of cached data against its checksums and against the origin.
 */
#ifndef NEARCACHE_IO_VERIFY_H
#define NEARCACHE_IO_VERIFY_H

#include <linux/bio.h>
#include <linux/types.h>

struct nc_cache;
struct nc_fill;
struct nc_span;
struct nc_target;

/* How to serve a hit while hits are checked. */
enum nc_check {
	NC_CHECK_DIRECT,	/* remap it; with checksums, check its pages on completion */
	NC_CHECK_STARTED,	/* a check owns the bio and reads into the cache's pages */
	NC_CHECK_MEMORY,	/* no memory for the check: bypass */
	NC_CHECK_P2P,		/* memory of another device cannot be checked: bypass */
	NC_CHECK_GONE,		/* not valid any more: look it up again */
};

enum nc_check nc_check_hit(struct nc_target *t, struct bio *bio,
			   struct nc_span *span, u32 slot, int hold);
int nc_check_end_io(struct nc_target *t, struct bio *bio);
void nc_check_fill(struct nc_fill *f);
enum nc_check nc_check_scrub(struct nc_target *t, const struct nc_span *span,
			     bool compare);

#endif /* NEARCACHE_IO_VERIFY_H */
