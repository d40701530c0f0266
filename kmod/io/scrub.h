/* SPDX-License-Identifier: GPL-2.0-only */
/* A scrub: a pass over all that is cached, at a limited rate. */
#ifndef NEARCACHE_IO_SCRUB_H
#define NEARCACHE_IO_SCRUB_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct nc_cache;

/**
 * struct nc_scrub - the scrub of a cache
 * @work: starts the check of the next piece
 * @wanted: a pass is under way
 * @paused: the cache is suspended
 * @busy: a piece is being checked
 * @compare: with the origin, too
 * @slot: next slot
 * @sub: next sub-block in it
 * @rate: bytes per second, 0: as fast as one piece after the other goes
 * @due: when the next piece may begin, ns of ktime_get()
 *
 * A pass begins and is given up under nc_cache.life; @wanted is cleared by @work at
 * its end, too.  The rest is @work's, and that of the check that it started.
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
void nc_scrub_pause(struct nc_cache *c);
void nc_scrub_resume(struct nc_cache *c);
void nc_scrub_checked(struct nc_cache *c, u32 bytes);
u32 nc_scrub_left(const struct nc_cache *c);

#endif /* NEARCACHE_IO_SCRUB_H */
