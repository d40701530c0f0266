/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows: what streams will read soon is brought ahead of them, as a classifier says. */
#ifndef NEARCACHE_PREFETCH_READAHEAD_H
#define NEARCACHE_PREFETCH_READAHEAD_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "io/stream.h"

struct nc_cache;

/* Windows that wait; more are not taken. */
#define NC_READAHEAD_WINDOWS	256U

/**
 * struct nc_readahead - those of a cache
 * @lock: protects the rest; process context; innermost
 * @window: those that wait, each for its turn
 * @count: how many
 * @turn: whose turn it is
 * @paused: no table is live
 * @failed: jiffies of the last read that failed
 * @work: sends what is due
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
void nc_readahead_pause(struct nc_cache *c);
void nc_readahead_resume(struct nc_cache *c);
void nc_readahead_ask(struct nc_cache *c, const struct nc_readahead_window *window);

#endif /* NEARCACHE_PREFETCH_READAHEAD_H */
