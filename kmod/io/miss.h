/* SPDX-License-Identifier: GPL-2.0-only */
/* A missing read starts a fill, joins one, or bypasses the cache. */
#ifndef NEARCACHE_IO_MISS_H
#define NEARCACHE_IO_MISS_H

struct bio;
struct nc_job;
struct nc_span;
struct nc_target;

/**
 * enum nc_miss - fate of a missing read
 * @NC_MISS_STARTED: a new fill owns the bio
 * @NC_MISS_JOINED: a fill under way owns the bio, or already completed it
 * @NC_MISS_VALID: the data became valid meanwhile: look it up again
 * @NC_MISS_FULL: no free slot: bypass
 * @NC_MISS_MEMORY: no memory within the cap: bypass
 * @NC_MISS_WRITE: the data is being written: bypass
 */
enum nc_miss {
	NC_MISS_STARTED,
	NC_MISS_JOINED,
	NC_MISS_VALID,
	NC_MISS_FULL,
	NC_MISS_MEMORY,
	NC_MISS_WRITE,
};

enum nc_miss nc_miss_read(struct nc_target *t, struct bio *bio,
			  struct nc_span *span);
enum nc_miss nc_miss_prefetch(struct nc_target *t, struct nc_span *span, struct nc_job *job);
void nc_miss_fill(struct nc_target *t, struct nc_span *span);

#endif /* NEARCACHE_IO_MISS_H */
