/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fill: a run of missing sub-blocks on its way from the origin into a slot.
 */
#ifndef NEARCACHE_FILL_H
#define NEARCACHE_FILL_H

#include <linux/types.h>

struct bio;
struct nc_cache;
struct nc_stripe;
struct nc_target;

/**
 * struct nc_span - sub-blocks of one block
 * @block: origin block
 * @first: first sub-block
 * @last: last sub-block, inclusive
 */
struct nc_span {
	u64 block;
	u32 first;
	u32 last;
};

/**
 * enum nc_fill_result - what became of a missing read
 * @NC_FILL_STARTED: a new fill owns the bio
 * @NC_FILL_JOINED: a fill under way owns the bio, or already completed it
 * @NC_FILL_VALID: the data became valid meanwhile: look it up again
 * @NC_FILL_FULL: no free slot: read from the origin
 * @NC_FILL_MEMORY: no memory within the cap: read from the origin
 */
enum nc_fill_result {
	NC_FILL_STARTED,
	NC_FILL_JOINED,
	NC_FILL_VALID,
	NC_FILL_FULL,
	NC_FILL_MEMORY,
};

enum nc_fill_result nc_fill_read(struct nc_target *t, struct bio *bio,
				 struct nc_span *span);
bool nc_fill_busy(const struct nc_stripe *stripe, u64 block);
void nc_fill_drain(struct nc_cache *c);

#endif /* NEARCACHE_FILL_H */
