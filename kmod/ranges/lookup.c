// SPDX-License-Identifier: GPL-2.0-only
/*
 * Look-up of ranges: when a block gets a slot, when a read misses, and for the counters of
 * blocks with several labels.  A hit looks no range up: it finds the result in its slot's tag.
 */
#include <linux/slab.h>

#include "cache.h"
#include "ranges/lookup.h"

/* Slow path of nc_ranges_label(): there are ranges. */
static u16 label_of(struct nc_cache *c, sector_t sector)
{
	const struct nc_segment *at;
	struct nc_segments *s;
	u16 label = 0;

	rcu_read_lock();
	s = rcu_dereference(c->ranges.segments);
	at = s ? nc_rangemap_find(s->segment, s->count, sector) : NULL;
	if (at && at->first <= sector)
		label = at->id;
	rcu_read_unlock();
	return label;
}

/* Return the id of a sector's label; 0: none.  A sector has at most one label.  Any context. */
u16 nc_ranges_label(struct nc_cache *c, sector_t sector)
{
	return nc_ranges_any(c) ? label_of(c, sector) : 0;
}

/* Compute the tag of a block with sectors from @first to before @end.  A pin of any sector pins the
 * block, because its slot is evicted as a whole.  Every other flag must apply to all sectors.
 */
static u32 tag_of(const struct nc_segments *s, u64 first, u64 end)
{
	const struct nc_segment *at = nc_rangemap_find(s->segment, s->count, first);
	u16 label = at && at->first < end ? at->id : 0;
	u8 some = 0, all = NC_WANTS_FLAGS, priority = 0;
	struct nc_slot slot = { };
	u64 sector = first;

	if (!label)
		return 0;
	for (; at < s->segment + s->count && at->first < end; at++) {
		if (at->first > sector || at->id != label)
			label = NC_LABEL_MIXED;
		if (at->first > sector)
			all = 0;
		some |= at->flags;
		all &= at->flags;
		priority = max(priority, at->priority);
		sector = at->end;
	}
	if (sector < end) {
		label = NC_LABEL_MIXED;
		all = 0;
	}
	slot.tag.label = label;
	slot.tag.wants = priority << NC_WANTS_PRIORITY_SHIFT | all |
			 (some & NEARCACHE_RANGE_PIN);
	return slot.tagged;
}

/**
 * nc_ranges_tag() - compute the tag that ranges give a block
 * @c: live cache
 * @block: origin block
 *
 * Context: RCU read section, which lasts until the slot is tagged; or nc_ranges.lock is held.
 * Return: nc_slot.tagged.
 */
u32 nc_ranges_tag(struct nc_cache *c, u64 block)
{
	u64 first = block << c->hot.block_shift;
	u64 end = min(first + (1U << c->hot.block_shift), c->geo.origin_size >> SECTOR_SHIFT);
	const struct nc_segments *s =
		rcu_dereference_check(c->ranges.segments, lockdep_is_held(&c->ranges.lock));

	return s ? tag_of(s, first, end) : 0;
}

/* Set a linked slot's label and flags to those of @tagged, under the bucket lock of its block. */
void nc_ranges_retag(struct nc_cache *c, struct nc_slot *slot, u32 tagged)
{
	struct nc_slot next = { .tagged = tagged };
	bool pin = next.tag.wants & NEARCACHE_RANGE_PIN;
	bool was = slot->tag.wants & NEARCACHE_RANGE_PIN;

	WRITE_ONCE(slot->tag.label, next.tag.label);
	WRITE_ONCE(slot->tag.wants, next.tag.wants);
	atomic64_add(pin - was, &c->ranges.pinned);
	if (was || pin)
		c->ranges.ops->retagged(c, slot, was, pin);
}

static bool keeps_out(u8 flags)
{
	return (flags & NEARCACHE_RANGE_BYPASS) && !(flags & NEARCACHE_RANGE_PIN);
}

/* Return the flags NEARCACHE_RANGE_* of a block: bypass only if all of it has it.  Context: any. */
static u8 block_wants(struct nc_cache *c, u64 block)
{
	struct nc_slot slot = { };

	if (!nc_ranges_any(c))
		return 0;
	rcu_read_lock();
	slot.tagged = nc_ranges_tag(c, block);
	rcu_read_unlock();
	return slot.tag.wants;
}

/* Do ranges forbid to cache a block (all of it has bypass, no part a pin)?  Context: any. */
bool nc_ranges_keep_out(struct nc_cache *c, u64 block)
{
	return keeps_out(block_wants(c, block));
}

/* Is any part of a block pinned?  Any context. */
bool nc_ranges_pinned(struct nc_cache *c, u64 block)
{
	return block_wants(c, block) & NEARCACHE_RANGE_PIN;
}

/**
 * nc_ranges_bypassed() - do ranges forbid to cache the start of a missing piece?
 * @c: live cache
 * @span: missing sub-blocks; shortened to those that the answer applies to
 *
 * True only for sub-blocks that ranges with bypass and without a pin cover completely.
 *
 * Context: any.
 */
bool nc_ranges_bypassed(struct nc_cache *c, struct nc_span *span)
{
	u64 block = span->block << c->hot.block_shift;
	u64 sector = block + ((u64)span->first << c->hot.sub_shift);
	u64 end = block + ((u64)(span->last + 1) << c->hot.sub_shift);
	u64 origin_end = c->geo.origin_size >> SECTOR_SHIFT;
	const struct nc_segment *at, *behind;
	struct nc_segments *s;
	bool bypassed = false;
	u32 first, last;
	u64 begin;

	rcu_read_lock();
	s = rcu_dereference(c->ranges.segments);
	at = s ? nc_rangemap_find(s->segment, s->count, sector) : NULL;
	behind = s ? s->segment + s->count : NULL;
	for (; at && at < behind && at->first < end; at++) {
		if (!keeps_out(at->flags))
			continue;
		/* Treat adjacent bypassed segments as one: together they may cover a sub-block. */
		begin = at->first;
		while (at + 1 < behind && at[1].first == at->end && at->end < end &&
		       keeps_out(at[1].flags))
			at++;
		/* The sub-blocks from @first to before @last lie completely inside. */
		first = begin <= block ? 0 :
			(begin - block + (1U << c->hot.sub_shift) - 1) >> c->hot.sub_shift;
		last = (at->end >= origin_end ? end - block : min(at->end, end) - block) >>
		       c->hot.sub_shift;
		if (last <= first || last <= span->first)
			continue;
		bypassed = first <= span->first;
		if (first <= span->last)
			span->last = min_t(u32, span->last, (bypassed ? last : first) - 1);
		break;
	}
	rcu_read_unlock();
	return bypassed;
}

/* Number of blocks that ranges pin and that have no slot yet.  Context: any; a hint. */
u64 nc_ranges_owed(const struct nc_cache *c)
{
	u64 reserved = READ_ONCE(c->ranges.reserved);
	u64 pinned = atomic64_read(&c->ranges.pinned);

	return reserved > pinned ? reserved - pinned : 0;
}

/* Count a hit on a block with several labels, for the label of its first sector.  Any context. */
void nc_ranges_count_mixed(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = label_of(c, sector);

	if (label)
		nc_labels_count_hit(&c->ranges.labels, label, bytes);
}

/* Count a read that is no hit, for the label of its first sector.  Any context. */
void nc_ranges_count_miss(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = nc_ranges_label(c, sector);

	if (!label)
		return;
	nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_MISSES, 1);
	nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_MISS_BYTES, bytes);
}

/* Count bytes read from the origin, for the label of the first sector.  Any context. */
void nc_ranges_count_origin(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = nc_ranges_label(c, sector);

	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_ORIGIN_BYTES, bytes);
}

static u64 cached_bytes(const struct nc_cache *c, const struct nc_slot *slot)
{
	return hweight64(READ_ONCE(slot->valid)) * c->geo.subblock_size;
}

static u16 label_of_slot(struct nc_cache *c, const struct nc_slot *slot, u64 block)
{
	u16 label = READ_ONCE(slot->tag.label);

	return label == NC_LABEL_MIXED ? label_of(c, block << c->hot.block_shift) : label;
}

/* Count the bytes of a prefetched block at its first read.  Context: a hit section. */
void nc_ranges_count_used(struct nc_cache *c, const struct nc_slot *slot, u64 block)
{
	u16 label = label_of_slot(c, slot, block);
	u64 bytes = cached_bytes(c, slot);

	nc_count_add(c, PREFETCHED_USED_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_USED_BYTES,
			      bytes);
}

/* Count the bytes of a prefetched block that is evicted unread; its slot is unlinked. */
void nc_ranges_count_wasted(struct nc_cache *c, const struct nc_slot *slot, u64 block)
{
	u16 label = label_of_slot(c, slot, block);
	u64 bytes = cached_bytes(c, slot);

	nc_count_add(c, PREFETCHED_WASTED_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_WASTED_BYTES,
			      bytes);
}

/* Count a read that joins the fill of a late prefetch.  Context: the bucket lock is held. */
void nc_ranges_count_late(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = nc_ranges_label(c, sector);

	nc_count_add(c, PREFETCHED_LATE_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_LATE_BYTES,
			      bytes);
}

/* Return an upper limit of the memory of ranges and labels, in bytes.  Context: any; a hint. */
u64 nc_ranges_memory(const struct nc_cache *c)
{
	u64 count = READ_ONCE(c->ranges.count);

	return count * sizeof(struct nc_want) +
	       nc_rangemap_segments_max(count) * sizeof(struct nc_segment) +
	       nc_labels_memory(&c->ranges.labels);
}
