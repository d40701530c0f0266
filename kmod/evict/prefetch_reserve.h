/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetched blocks: whether a reader has used them, and the prefetch reserve. */
#ifndef NEARCACHE_EVICT_PREFETCH_RESERVE_H
#define NEARCACHE_EVICT_PREFETCH_RESERVE_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "core/index.h"

struct bio;
struct nc_cache;
struct nc_span;

/* nc_tag.ahead */
#define NC_AHEAD_UNREAD		0x80	/* a prefetch brought it, and no reader used it */
/* 0: not in the reserve; n > 0: in the reserve, n - 1 sub-blocks read so far */
#define NC_AHEAD_RESERVE	0x7f

/**
 * struct nc_prefetch_reserve - slots of a full cache for data that is prefetched and read once
 * @used: slots in the reserve
 * @over: number of slots whose valid data was all read since nc_reserve_look() last ran
 * @own: highest value of @used: the reserve keeps these slots, in use or free
 * @wanted: number of slots that jobs need and did not find; a hint, without a lock
 * @given: number of slots that jobs got, without pinned ones
 * @pressed: a job has waited long: reclaim may evict old unread blocks of the reserve
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
