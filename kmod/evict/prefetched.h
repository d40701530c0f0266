/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetched blocks: unread or used, and in transit or staying. */
#ifndef NEARCACHE_EVICT_PREFETCHED_H
#define NEARCACHE_EVICT_PREFETCHED_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "core/index.h"

struct bio;
struct nc_cache;
struct nc_span;

/* nc_tag.ahead */
#define NC_AHEAD_UNREAD		0x80	/* a prefetch brought it, and no reader used it */
/* 0: not in transit; n > 0: in transit, n - 1 sub-blocks were read so far. */
#define NC_AHEAD_TRANSIT	0x7f

/**
 * struct nc_transit - prefetch reserve: slots of a full cache for data that is read soon, once
 * @used: slots in transit
 * @over: slots in transit that were read completely since the last look
 * @own: slots that belong to the reserve, in transit or free: the maximum of @used so far
 * @wanted: slots that jobs could use but did not find; a hint, without a lock
 * @given: slots that jobs got, without those of pinned blocks
 * @pressed: a job has waited long: reclaim may evict old unread blocks in transit
 */
struct nc_transit {
	atomic_t used;
	atomic_t over;
	u32 own;
	u32 wanted;
	u32 given;
	bool pressed;
};

void nc_ahead_begin(struct nc_cache *c, struct nc_slot *slot, bool transit);
void nc_ahead_window(struct nc_slot *slot);
void nc_ahead_read(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
		   const struct nc_span *span);
void nc_ahead_joined(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
		     const struct nc_span *span);
void nc_ahead_came(struct nc_cache *c, struct nc_slot *slot);
bool nc_ahead_is_over(const struct nc_slot *slot);
void nc_ahead_stays(struct nc_cache *c, struct nc_slot *slot);
void nc_ahead_gone(struct nc_cache *c, struct nc_slot *slot, u64 block);
u32 nc_transit_due(const struct nc_cache *c);
u32 nc_transit_kept(const struct nc_cache *c);
void nc_transit_want(struct nc_cache *c, u64 slots);
void nc_transit_look(struct nc_cache *c);

#endif /* NEARCACHE_EVICT_PREFETCHED_H */
