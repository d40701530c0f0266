/* SPDX-License-Identifier: GPL-2.0-only */
/* Reclaim: keeps slots free by evicting the blocks that the policy finds idle. */
#ifndef NEARCACHE_EVICT_RECLAIM_H
#define NEARCACHE_EVICT_RECLAIM_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/* Slots freed per round of reclaim: hits in flight may take milliseconds, and after a checkpoint
 * every new block waits for a slot that a write held.
 */
#define NC_RECLAIM_BATCH	1024U

struct nc_cache;

/**
 * struct nc_reclaim - the reclaim worker of a cache
 * @work: see reclaim.c
 * @enabled: @work may be queued: the table is live; changed under nc_life.lock, also while I/O runs
 * @emptied: slots that lost their last valid sub-block since the last hint
 * @hand: next slot to look at; only the worker uses it
 * @tick: tick of the last pass that found nothing, plus one; the worker's hint to others
 * @awaits_fills: a victim cannot go before it is filled: the fill writer must hurry; a hint, which
 *	it clears when its lists are empty
 * @batch: victims, while hits are waited for; only the worker uses it
 */
struct nc_reclaim {
	struct work_struct work;
	bool enabled;
	atomic_t emptied;
	u32 hand;
	u32 tick;
	bool awaits_fills;
	u32 batch[NC_RECLAIM_BATCH];
};

void nc_reclaim_work(struct work_struct *work);

#endif /* NEARCACHE_EVICT_RECLAIM_H */
