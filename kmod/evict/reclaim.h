/* SPDX-License-Identifier: GPL-2.0-only */
/* Reclaim: keeps some slots free by evicting blocks that the policy or the plan selects. */
#ifndef NEARCACHE_EVICT_RECLAIM_H
#define NEARCACHE_EVICT_RECLAIM_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/hit_srcu.h"

/* Most slots freed per batch.  Many, because each batch waits milliseconds for hits in flight, and
 * every new block may need a slot at once, as after an application wrote a checkpoint.
 */
#define NC_RECLAIM_BATCH	1024U

struct nc_cache;

/**
 * struct nc_reclaim - the reclaim worker of a cache
 * @work: runs nc_reclaim_work()
 * @enabled: a table is live, so @work may be queued; changed under nc_life.lock, also during I/O
 * @emptied: number of slots that lost their last valid sub-block, since it was last reset to 0
 * @hand: next slot to look at; only the worker uses it
 * @tick: one more than the tick of the last pass that found nothing idle, see nc_slots_check()
 * @awaits_fills: a fill in flight delays an eviction, so the fill writer must hurry; a hint, which
 *	the fill writer clears when its lists are empty
 * @batch: unlinked slots, while the worker waits for hits; only the worker uses it
 * @aside: number of slots in @held
 * @held: unlinked slots that a hit section may still use although their batch is over; at most as
 *	many as fit beside the current batch in NC_RECLAIM_BATCH.  The worker alone changes these
 *	three members, and nc_reclaim_settle() while it does not run; @aside is read as a hint
 * @busy: parts of the index (nc_hit_part()) of @held: nothing else is evicted from them
 */
struct nc_reclaim {
	struct work_struct work;
	bool enabled;
	atomic_t emptied;
	u32 hand;
	u32 tick;
	bool awaits_fills;
	u32 batch[NC_RECLAIM_BATCH];
	u32 aside;
	u32 held[NC_RECLAIM_BATCH];
	DECLARE_BITMAP(busy, NC_HIT_PARTS);
};

void nc_reclaim_work(struct work_struct *work);
void nc_reclaim_settle(struct nc_cache *c);

#endif /* NEARCACHE_EVICT_RECLAIM_H */
