/* SPDX-License-Identifier: GPL-2.0-only */
/* Readahead windows: sectors to read ahead of a stream, as its classifier asks for. */
#ifndef NEARCACHE_PREFETCH_READAHEAD_H
#define NEARCACHE_PREFETCH_READAHEAD_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "io/stream.h"

struct nc_cache;

/* Most queued windows; further windows are ignored. */
#define NC_READAHEAD_WINDOWS	256U

/**
 * struct nc_readahead - readahead windows of a cache
 * @lock: protects the other fields; process context; innermost
 * @window: queued windows, which take turns
 * @count: number of queued windows
 * @turn: index in @window of the window that has or had the latest turn
 * @paused: no dm table is live, so new windows are ignored
 * @failed: jiffies when a read for a window last failed
 * @work: submits fills
 */
struct nc_readahead {
	spinlock_t lock;	/* see above */
	struct nc_readahead_window window[NC_READAHEAD_WINDOWS];
	u32 count;
	u32 turn;
	bool paused;
	unsigned long failed;
	struct delayed_work work;
};

void nc_readahead_init(struct nc_cache *c);
void nc_readahead_rest(struct nc_cache *c);
void nc_readahead_pause(struct nc_cache *c);
void nc_readahead_resume(struct nc_cache *c);
void nc_readahead_ask(struct nc_cache *c, const struct nc_readahead_window *window);

#endif /* NEARCACHE_PREFETCH_READAHEAD_H */
