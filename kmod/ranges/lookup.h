/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges: parts of the origin to which users gave flags (pin, bypass, evict after use) and a label.
 */
#ifndef NEARCACHE_RANGES_LOOKUP_H
#define NEARCACHE_RANGES_LOOKUP_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "ranges/label.h"
#include "ranges/segments.h"

struct nc_cache;
struct nc_slot;
struct nc_span;

/**
 * struct nc_segments - all ranges, cut into segments that do not overlap
 * @count: number of segments
 * @segment: segments by ascending sector
 */
struct nc_segments {
	u32 count;
	struct nc_segment segment[];
};

/**
 * struct nc_room - how much of the cache pins need and may use
 * @needed: bytes of all blocks that pinned ranges overlap
 * @available: bytes of slots that may be pinned
 */
struct nc_room {
	u64 needed;
	u64 available;
};

/**
 * struct nc_ranges_ops - calls from the ranges into higher layers, set by cache.c
 * @retagged: called when a linked slot gets another tag and was pinned before (@was) or is pinned
 *	now (@pin); the bucket lock is held
 * @changed: called after the ranges changed, as more slots may be evictable, or pins need more
 *	slots; nc_ranges.lock is held
 */
struct nc_ranges_ops {
	void (*retagged)(struct nc_cache *c, struct nc_slot *slot, bool was, bool pin);
	void (*changed)(struct nc_cache *c);
};

/**
 * struct nc_ranges - the ranges of a cache
 * @ops: calls into higher layers
 * @lock: protects all members; nests inside nc_life.lock, and bucket locks nest inside @lock
 * @want: ranges, in the order of nc_want_compare()
 * @count: number of ranges
 * @serial: serial of the newest range
 * @changes: number of changes so far
 * @segments: @want as segments for look-up; NULL: no range.  Read under RCU
 * @labels: the labels of the ranges
 * @reserved: number of blocks that pinned ranges overlap
 * @pinned: number of slots with NEARCACHE_RANGE_PIN; changed under bucket locks, read without them
 * @expire_work: deletes expired ranges
 * @unreported: ranges changed with no live dm table, so nc_ranges_live() sends the event; protected
 *	by nc_life.lock
 *
 * A slot's tag is computed from @segments.  A caller that gives a slot to a block reads @segments
 * under RCU, and tags and links the slot in the same read section.  A change of the ranges
 * waits for a grace period, then tags all affected linked slots again, under bucket locks.
 * So a slot gets the new tag whether it was linked before or after the change.
 */
struct nc_ranges {
	const struct nc_ranges_ops *ops;
	struct mutex lock;	/* see above */
	struct nc_want *want;
	u32 count;
	u32 serial;
	u32 changes;
	struct nc_segments __rcu *segments;
	struct nc_labels labels;
	u64 reserved;
	atomic64_t pinned;
	struct delayed_work expire_work;
	bool unreported;
};

/**
 * struct nc_which - selects the ranges that lie inside some sectors, by label and flags
 * @first: first sector
 * @end: sector behind the last one
 * @label: only ranges with this label; 0: with any label
 * @flags: only ranges with at least these flags
 */
struct nc_which {
	u64 first;
	u64 end;
	u16 label;
	u8 flags;
};

/**
 * struct nc_replacement - one change of the ranges
 * @drop: delete the ranges that an element selects
 * @keep: ranges that stay although @drop selects them
 * @add: ranges to add, none empty, all inside the origin.  Each holds a reference to its label:
 *	nc_ranges owns the reference after success, the caller after an error
 * @drop_count: length of @drop
 * @keep_count: length of @keep
 * @add_count: length of @add
 * @expired_at: also delete the ranges that have expired at this time, see nc_ranges_now(); 0: none
 * @unique: also delete the ranges that are equal to an element of @add
 * @deleted: set to the number of ranges deleted without an equal range in @add
 *
 * Two ranges are equal if they differ at most in their expiry.  The change sorts all three
 * lists in place.
 */
struct nc_replacement {
	struct nc_which *drop;
	struct nc_want *keep;
	struct nc_want *add;
	u32 drop_count;
	u32 keep_count;
	u32 add_count;
	u32 expired_at;
	bool unique;
	u64 deleted;
};

static inline bool nc_ranges_any_of(const struct nc_ranges *r)
{
	return rcu_access_pointer(r->segments);
}

/* Has the cache any range?  A hint without nc_ranges.lock. */
#define nc_ranges_any(c)	nc_ranges_any_of(&(c)->ranges)

u64 nc_ranges_memory(const struct nc_cache *c);
u32 nc_ranges_tag(struct nc_cache *c, u64 block);
void nc_ranges_retag(struct nc_cache *c, struct nc_slot *slot, u32 tagged);
bool nc_ranges_keep_out(struct nc_cache *c, u64 block);
bool nc_ranges_pinned(struct nc_cache *c, u64 block);
bool nc_ranges_bypassed(struct nc_cache *c, struct nc_span *span);
u64 nc_ranges_owed(const struct nc_cache *c);
void nc_ranges_count_used(struct nc_cache *c, const struct nc_slot *slot, u64 block);
void nc_ranges_count_wasted(struct nc_cache *c, const struct nc_slot *slot, u64 block);
void nc_ranges_count_late(struct nc_cache *c, sector_t sector, u32 bytes);
u16 nc_ranges_label(struct nc_cache *c, sector_t sector);
void nc_ranges_count_mixed(struct nc_cache *c, sector_t sector, u32 bytes);
void nc_ranges_count_miss(struct nc_cache *c, sector_t sector, u32 bytes);
void nc_ranges_count_origin(struct nc_cache *c, sector_t sector, u32 bytes);

/* change.c */
void nc_ranges_init(struct nc_cache *c, const struct nc_ranges_ops *ops);
void nc_ranges_destroy(struct nc_cache *c);
int nc_ranges_replace(struct nc_cache *c, struct nc_replacement *rp, struct nc_room *room);
void nc_ranges_room(struct nc_cache *c, struct nc_room *room);
void nc_ranges_inherit(struct nc_cache *c, struct nc_cache *before, u64 end);
void nc_ranges_loaded(struct nc_cache *c);
void nc_ranges_grown(struct nc_cache *c, u64 old);
void nc_ranges_live(struct nc_cache *c);
u32 nc_ranges_now(void);

#endif /* NEARCACHE_RANGES_LOOKUP_H */
