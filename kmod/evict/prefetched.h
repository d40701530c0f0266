/* SPDX-License-Identifier: GPL-2.0-only */
/* What a prefetch brought: has it been read, and does it only pass through? */
#ifndef NEARCACHE_EVICT_PREFETCHED_H
#define NEARCACHE_EVICT_PREFETCHED_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "core/index.h"

struct bio;
struct nc_cache;
struct nc_span;

/* nc_tag.ahead */
#define NC_AHEAD_UNREAD		0x80	/* a prefetch brought it, and nobody has read it yet */
/* 0: it stays. Else it is in transit, and so many sub-blocks of it were read, and one. */
#define NC_AHEAD_TRANSIT	0x7f

/**
 * struct nc_transit - the transit share: slots of a full cache for what is read soon, once
 * @used: slots in transit
 * @over: of those so many were read to their end since the last look
 * @own: slots that were taken for it, in transit or free: the most that @used ever was
 * @wanted: slots that jobs found none of; a hint, without a lock
 * @given: slots that jobs got, but for what is pinned
 * @pressed: a job has waited for long: what has been there for long is not waited for
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
