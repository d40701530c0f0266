/* SPDX-License-Identifier: GPL-2.0-only */
/* State of prefetched blocks until readers have used them, and the prefetch reserve. */
#ifndef NEARCACHE_EVICT_PREFETCH_RESERVE_H
#define NEARCACHE_EVICT_PREFETCH_RESERVE_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "core/index.h"

struct bio;
struct nc_cache;
struct nc_span;

/* nc_tag.ahead: state of a slot's prefetched data */
#define NC_AHEAD_UNREAD		0x80	/* no reader has used the data yet */
/* 0: slot not in the reserve; n > 0: slot in the reserve, n - 1 of its sub-blocks read so far */
#define NC_AHEAD_RESERVE	0x7f

/**
 * struct nc_prefetch_reserve - slots of a full cache for data that is prefetched and read once
 * @used: number of slots of the reserve that hold a block
 * @over: number of slots that readers finished since nc_reserve_look() last ran
 * @own: size of the reserve: highest value of @used so far, because freed slots stay reserved
 * @wanted: number of slots that jobs need and did not find; a hint, without a lock
 * @given: number of slots that jobs got so far, not counting slots for pinned blocks
 * @pressed: a job has waited long, so reclaim may evict old unread blocks of the reserve
 */
struct nc_prefetch_reserve {
	atomic_t used;
	atomic_t over;
	u32 own;
	u32 wanted;
	u32 given;
	bool pressed;
};

void nc_prefetched_begin(struct nc_cache *c, struct nc_slot *slot, bool reserve);
void nc_prefetched_window(struct nc_slot *slot);
void nc_prefetched_read(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
			const struct nc_span *span);
void nc_prefetched_joined(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
			  const struct nc_span *span);
void nc_prefetched_came(struct nc_cache *c, struct nc_slot *slot);
bool nc_prefetched_is_over(const struct nc_slot *slot);
void nc_prefetched_stays(struct nc_cache *c, struct nc_slot *slot);
void nc_prefetched_gone(struct nc_cache *c, struct nc_slot *slot, u64 block);
u32 nc_reserve_due(const struct nc_cache *c);
u32 nc_reserve_kept(const struct nc_cache *c);
void nc_reserve_want(struct nc_cache *c, u64 slots);
void nc_reserve_look(struct nc_cache *c);

#endif /* NEARCACHE_EVICT_PREFETCH_RESERVE_H */
