/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of cached data against its checksums and against the origin.
 */
#ifndef NEARCACHE_IO_VERIFY_H
#define NEARCACHE_IO_VERIFY_H

#include <linux/bio.h>
#include <linux/types.h>

struct nc_cache;
struct nc_span;
struct nc_target;

/* How to serve a hit while hits are checked. */
enum nc_verify {
	NC_VERIFY_DIRECT,	/* remap the bio; with checksums, check its pages on completion */
	NC_VERIFY_STARTED,	/* a check owns the bio and reads into pages of the cache */
	NC_VERIFY_MEMORY,	/* no memory for the check: the read bypasses the cache */
	NC_VERIFY_P2P,		/* memory of another device cannot be checked: bypass the cache */
	NC_VERIFY_GONE,		/* the data is not valid any more: look it up again */
};

typedef void nc_verify_done_fn(struct nc_cache *c, u32 bytes);

enum nc_verify nc_verify_hit(struct nc_target *t, struct bio *bio,
			     struct nc_span *span, u32 slot, int hold);
int nc_verify_end_io(struct nc_target *t, struct bio *bio);
enum nc_verify nc_verify_scrub(struct nc_target *t, const struct nc_span *span,
			       bool compare, nc_verify_done_fn *done);

#endif /* NEARCACHE_IO_VERIFY_H */
