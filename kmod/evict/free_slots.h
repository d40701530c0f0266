/* SPDX-License-Identifier: GPL-2.0-only */
/* The pool of slots: which blocks may take a free slot, and when reclaim must free more. */
#ifndef NEARCACHE_EVICT_FREE_SLOTS_H
#define NEARCACHE_EVICT_FREE_SLOTS_H

#include <linux/atomic.h>

#include "core/index.h"
#include "core/types.h"
#include "evict/default_policy.h"
#include "evict/prefetch_reserve.h"
#include "nearcache.h"

struct nc_cache;

/**
 * struct nc_slots - slots of a cache as a pool
 * @used: number of slots that hold a block
 * @valid_subblocks: number of valid bits set in all slots
 * @reserve: the prefetch reserve, see prefetch_reserve.h
 */
struct nc_slots {
	atomic64_t used;
	atomic64_t valid_subblocks;
	struct nc_prefetch_reserve reserve;
};

u32 nc_slots_take(struct nc_cache *c, u64 block, enum nc_slot_user user);
bool nc_slots_room(struct nc_cache *c, u64 block, enum nc_slot_user user);
bool nc_slots_spare(const struct nc_cache *c);
void nc_slots_check(struct nc_cache *c);
void nc_slots_look_again(struct nc_cache *c);
void nc_slots_refill(struct nc_cache *c, const struct nc_bucket_lock *bucket, u32 i);
void nc_slots_emptied(struct nc_cache *c);
u32 nc_slots_high_mark(const struct nc_cache *c);
u32 nc_slots_for_pins(const struct nc_cache *c);
u32 nc_slots_due(const struct nc_cache *c);
u32 nc_slots_reserved(const struct nc_cache *c);
void nc_slots_sample(struct nc_cache *c, u64 block, bool cached);
void nc_slots_stamp(struct nc_cache *c, struct nc_slot *slot);

static inline bool nc_tag_is_pinned(u32 tagged)
{
	return nc_tag_of(tagged).wants & NEARCACHE_RANGE_PIN;
}

/* Has a linked slot no valid data, and no pinned block, so that reclaim may free it?  A hint. */
static inline bool nc_slot_is_empty(const struct nc_slot *slot)
{
	return !READ_ONCE(slot->valid) && !nc_tag_is_pinned(READ_ONCE(slot->tagged));
}

/* Is a hit the first use of @slot in this tick?  Then nc_slots_stamp() it. */
static __always_inline bool nc_slot_is_first_use(const struct nc_hot *hot,
						 const struct nc_slot *slot)
{
	return (READ_ONCE(slot->stamp) ^ READ_ONCE(hot->now)) & NC_STAMP_TICK;
}

#endif /* NEARCACHE_EVICT_FREE_SLOTS_H */
