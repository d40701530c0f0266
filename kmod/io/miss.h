/* SPDX-License-Identifier: GPL-2.0-only */
/* Misses: a read of missing data starts a fill, joins a fill, or bypasses the cache. */
#ifndef NEARCACHE_IO_MISS_H
#define NEARCACHE_IO_MISS_H

struct bio;
struct nc_fill;
struct nc_fill_ops;
struct nc_span;
struct nc_target;

/**
 * enum nc_miss - fate of a read or prefetch of missing sub-blocks
 * @NC_MISS_STARTED: a new fill owns the bio
 * @NC_MISS_JOINED: a fill under way owns the bio, or already completed it
 * @NC_MISS_VALID: the data became valid meanwhile, so the caller looks it up again
 * @NC_MISS_FULL: the block gets no free slot, so the read bypasses the cache
 * @NC_MISS_MEMORY: no memory, or the memory cap is reached, so the read bypasses the cache
 * @NC_MISS_WRITE: the data is being written, so the read bypasses the cache
 * @NC_MISS_PEER: a job is reading the data at a peer, so the read bypasses the cache
 */
enum nc_miss {
	NC_MISS_STARTED,
	NC_MISS_JOINED,
	NC_MISS_VALID,
	NC_MISS_FULL,
	NC_MISS_MEMORY,
	NC_MISS_WRITE,
	NC_MISS_PEER,
};

enum nc_miss nc_miss_read(struct nc_target *t, struct bio *bio,
			  struct nc_span *span);
enum nc_miss nc_miss_prefetch(struct nc_target *t, struct nc_span *span,
			      const struct nc_fill_ops *ops, struct nc_fill **f);
void nc_miss_sent(struct nc_fill *f);
void nc_miss_read_done(struct nc_fill *f, u64 took);
void nc_miss_fill(struct nc_target *t, struct nc_span *span);

#endif /* NEARCACHE_IO_MISS_H */
