/* SPDX-License-Identifier: GPL-2.0-only */
/* Readahead windows: data that a classifier wants to be read ahead of a stream. */
#ifndef NEARCACHE_PREFETCH_READAHEAD_H
#define NEARCACHE_PREFETCH_READAHEAD_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct nc_cache;
struct nc_fill;

/* Most queued windows; further ones are ignored. */
#define NC_WINDOWS	256U

/**
 * struct nc_window - sectors to read ahead of a stream
 * @first: first sector
 * @end: sector behind the last one
 */
struct nc_window {
	sector_t first;
	sector_t end;
};

/**
 * struct nc_windows - readahead windows of a cache
 * @lock: protects the other fields; process context; innermost
 * @window: queued windows, which take turns
 * @count: number of queued windows
 * @turn: index of the window whose turn it is
 * @paused: no table is live
 * @failed: jiffies of the last failed read
 * @work: submits fills
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
