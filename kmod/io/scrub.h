/* SPDX-License-Identifier: GPL-2.0-only */
/* A scrub: a pass over all cached data at a limited rate. */
#ifndef NEARCACHE_IO_SCRUB_H
#define NEARCACHE_IO_SCRUB_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct nc_cache;

/**
 * struct nc_scrub - scrub of a cache
 * @work: starts the check of the next piece
 * @wanted: a pass is under way
 * @paused: the cache is suspended
 * @busy: a check is under way
 * @compare: the pass also compares cached data with the origin
 * @slot: next slot to look at
 * @sub: sub-block of @slot to look at next
 * @rate: most bytes per second; 0: no delay between pieces
 * @due: earliest start of the next piece, as ktime_get_ns()
 *
 * A pass starts and is stopped under nc_life.lock; @work also clears @wanted, at the end.
 * The other fields belong to @work and to the check that it started.
 */
struct nc_scrub {
	struct delayed_work work;
	bool wanted;
	bool paused;
	bool busy;
	bool compare;
	u32 slot;
	u32 sub;
	u64 rate;
	u64 due;
};

void nc_scrub_init(struct nc_scrub *s);
int nc_scrub_start(struct nc_cache *c, u64 rate, bool compare);
int nc_scrub_stop(struct nc_cache *c);
void nc_scrub_rest(struct nc_cache *c);
void nc_scrub_pause(struct nc_cache *c);
void nc_scrub_resume(struct nc_cache *c);
u32 nc_scrub_left(const struct nc_cache *c);

#endif /* NEARCACHE_IO_SCRUB_H */
