/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of the origin: flags (pin, bypass, drop after use) and labels that users set.
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
 * @count: segments
 * @segment: ascending
 */
struct nc_segments {
	u32 count;
	struct nc_segment segment[];
};

/**
 * struct nc_room - room for pins
 * @needed: bytes that all pinned ranges need, in whole blocks
 * @available: bytes that may be pinned
 */
struct nc_room {
	u64 needed;
	u64 available;
};

/**
 * struct nc_ranges_ops - calls from the ranges into higher layers, set by cache.c
 * @retagged: the tag of a linked slot changed; @was: it had a pin before; @pin: it has one now.
 *	The bucket lock is held
 * @changed: the ranges changed, so more slots may be evictable, and pins may need more slots;
 *	nc_ranges.lock is held
 */
struct nc_ranges_ops {
	void (*retagged)(struct nc_cache *c, struct nc_slot *slot, bool was, bool pin);
	void (*changed)(struct nc_cache *c);
};

/**
 * struct nc_ranges - the ranges of a cache
 * @ops: calls into higher layers; set by nc_ranges_init()
 * @lock: protects all members; nests inside nc_life.lock, and bucket locks nest inside it
 * @want: ranges, in the order of nc_want_compare()
 * @count: number of ranges
 * @serial: serial of the newest range
 * @changes: number of changes so far
 * @segments: @want as segments for look-up, NULL: no range.  Read under RCU
 * @labels: see label.h
 * @reserved: blocks that pinned ranges overlap
 * @pinned: slots whose tag has NEARCACHE_RANGE_PIN; written under bucket locks, read without
 * @expire_work: deletes expired ranges
 * @untold: ranges changed while no table was live: an event is due; nc_life.lock
 *
 * A slot's tag is computed from @segments.  A caller that gives a slot to a block reads them
 * under RCU, and tags and links the slot in the same read section.  A change of the ranges
 * waits for a grace period, then tags all affected linked slots again, under bucket locks.
 * So the tags match the segments in the end, in either order.
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
	bool untold;
};

/**
 * struct nc_which - matches ranges that lie inside it
 * @first: first sector
 * @end: sector behind the last one
 * @label: the range has this label; 0: any label
 * @flags: the range has at least these flags
 */
struct nc_which {
	u64 first;
	u64 end;
	u16 label;
	u8 flags;
};

/**
 * struct nc_replacement - one change of the ranges
 * @drop: delete the ranges that one of these matches
 * @keep: ranges that stay although one of @drop matches them
 * @add: ranges to add, none empty, all inside the origin.  Each holds a reference to its label:
 *	nc_ranges owns it after success, the caller after an error
 * @drop_count: elements of @drop
 * @keep_count: elements of @keep
 * @add_count: elements of @add
 * @expired_at: also delete the ranges that have expired at this time; 0: none
 * @unique: delete the ranges that are equal to one of @add
 * @deleted: result: ranges that were deleted and are not equal to one of @add
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

/* Is there any range? */
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
