/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows: what streams will read soon is brought ahead of them, as a classifier says. */
#ifndef NEARCACHE_PREFETCH_READAHEAD_H
#define NEARCACHE_PREFETCH_READAHEAD_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct nc_cache;
struct nc_fill;

/* Windows that wait; more are not taken. */
#define NC_WINDOWS	256U

/**
 * struct nc_window - what a stream will read soon
 * @first: first sector
 * @end: behind the last one
 */
struct nc_window {
	sector_t first;
	sector_t end;
};

/**
 * struct nc_windows - those of a cache
 * @lock: protects the rest; process context; innermost
 * @window: those that wait, each for its turn
 * @count: how many
 * @turn: whose turn it is
 * @paused: no table is live
 * @failed: jiffies of the last read that failed
 * @work: sends what is due
 */
struct nc_windows {
	spinlock_t lock;	/* see above */
	struct nc_window window[NC_WINDOWS];
	u32 count;
	u32 turn;
	bool paused;
	unsigned long failed;
	struct delayed_work work;
};

void nc_windows_init(struct nc_cache *c);
void nc_windows_pause(struct nc_cache *c);
void nc_windows_resume(struct nc_cache *c);
void nc_window_ask(struct nc_cache *c, const struct nc_window *window);
void nc_window_done(struct nc_cache *c, const struct nc_fill *f, u64 bits, int error);

#endif /* NEARCACHE_PREFETCH_READAHEAD_H */
