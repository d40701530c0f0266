// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ranges say: looked up when a block gets a slot, when a read misses, and for what is
 * counted of blocks that several labels share.  A hit finds it in the tag of its slot.
 */
#include <linux/slab.h>

#include "cache.h"
#include "io/fill.h"
#include "ranges/lookup.h"

/* One sector belongs to one label. */
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

/**
 * nc_ranges_label() - the label of a sector
 * @c: live cache
 * @sector: sector
 *
 * Context: any.
 * Return: its id, 0: none.
 */
u16 nc_ranges_label(struct nc_cache *c, sector_t sector)
{
	return nc_ranges_any(c) ? label_of(c, sector) : 0;
}

/* What the segments say of the sectors of a block: a pin of any of them is one of the block,
 * as a slot goes or stays as a whole; anything else must hold for all of it.
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
 * nc_ranges_tag() - what ranges want of a block
 * @c: live cache
 * @block: origin block
 *
 * Context: RCU read section, which lasts until the slot is tagged; or nc_ranges.lock is held.
 * Return: nc_slot.tagged.
 */
u32 nc_ranges_tag(struct nc_cache *c, u64 block)
{
	u64 first = block << c->block_shift;
	u64 end = min(first + (1U << c->block_shift), c->geo.origin_size >> SECTOR_SHIFT);
	const struct nc_segments *s =
		rcu_dereference_check(c->ranges.segments, lockdep_is_held(&c->ranges.lock));

	return s ? tag_of(s, first, end) : 0;
}

/**
 * nc_ranges_retag() - give a slot another tag
 * @c: live cache
 * @slot: linked
 * @tagged: nc_ranges_tag()
 *
 * Context: the stripe lock of the slot's block is held.
 */
void nc_ranges_retag(struct nc_cache *c, struct nc_slot *slot, u32 tagged)
{
	struct nc_slot next = { .tagged = tagged };
	int pin = !!(next.tag.wants & NEARCACHE_RANGE_PIN);
	int was = !!(slot->tag.wants & NEARCACHE_RANGE_PIN);

	WRITE_ONCE(slot->tag.label, next.tag.label);
	WRITE_ONCE(slot->tag.wants, next.tag.wants);
	if (pin)
		nc_ahead_stays(c, slot);
	atomic64_add(pin - was, &c->ranges.pinned);
	/* What was pinned when it was to go is one that may go again. */
	if (was && !pin && nc_foresight_any(c))
		nc_foresight_took(c, nc_slot_block(slot));
}

static bool keeps_out(u8 flags)
{
	return (flags & NEARCACHE_RANGE_BYPASS) && !(flags & NEARCACHE_RANGE_PIN);
}

/**
 * nc_ranges_keep_out() - is a block not to be cached?
 * @c: live cache
 * @block: origin block
 *
 * Context: any.
 */
bool nc_ranges_keep_out(struct nc_cache *c, u64 block)
{
	struct nc_slot slot = { };

	if (!nc_ranges_any(c))
		return false;
	rcu_read_lock();
	slot.tagged = nc_ranges_tag(c, block);
	rcu_read_unlock();
	return keeps_out(slot.tag.wants);
}

/**
 * nc_ranges_pinned() - is a block, or a part of it, to stay?
 * @c: live cache
 * @block: origin block
 *
 * Context: any.
 */
bool nc_ranges_pinned(struct nc_cache *c, u64 block)
{
	struct nc_slot slot = { };

	if (!nc_ranges_any(c))
		return false;
	rcu_read_lock();
	slot.tagged = nc_ranges_tag(c, block);
	rcu_read_unlock();
	return slot.tag.wants & NEARCACHE_RANGE_PIN;
}

/**
 * nc_ranges_bypassed() - is a missing piece not to be cached?
 * @c: live cache
 * @span: missing sub-blocks; shortened to those that the answer holds for
 *
 * A sub-block of which only a part is bypassed is cached.
 *
 * Context: any.
 */
bool nc_ranges_bypassed(struct nc_cache *c, struct nc_span *span)
{
	u64 block = span->block << c->block_shift;
	u64 sector = block + ((u64)span->first << c->sub_shift);
	u64 end = block + ((u64)(span->last + 1) << c->sub_shift);
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
		/* Those that follow each other are one. */
		begin = at->first;
		while (at + 1 < behind && at[1].first == at->end && at->end < end &&
		       keeps_out(at[1].flags))
			at++;
		/* Sub-blocks that lie in it as a whole: from @first, up to before @last. */
		first = begin <= block ? 0 :
			(begin - block + (1U << c->sub_shift) - 1) >> c->sub_shift;
		last = (at->end >= origin_end ? end - block : min(at->end, end) - block) >>
		       c->sub_shift;
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

/**
 * nc_ranges_owed() - blocks that are pinned, and have no slot yet
 * @c: live cache
 *
 * Context: any; a hint.
 */
u64 nc_ranges_owed(const struct nc_cache *c)
{
	u64 reserved = READ_ONCE(c->ranges.reserved);
	u64 pinned = atomic64_read(&c->ranges.pinned);

	return reserved > pinned ? reserved - pinned : 0;
}

/**
 * nc_ranges_count_mixed() - the cache device served a read of a block of several labels
 * @c: live cache
 * @sector: first sector that was read
 * @bytes: how much
 *
 * Context: any.
 */
void nc_ranges_count_mixed(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = label_of(c, sector);

	if (label)
		nc_labels_count_hit(&c->ranges.labels, label, bytes);
}

/**
 * nc_ranges_count_miss() - a read is not served by the cache device
 * @c: live cache
 * @sector: its first sector
 * @bytes: how much
 *
 * Context: any.
 */
void nc_ranges_count_miss(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = nc_ranges_label(c, sector);

	if (!label)
		return;
	nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_MISSES, 1);
	nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_MISS_BYTES, bytes);
}

/**
 * nc_ranges_count_origin() - something is read from the origin
 * @c: live cache
 * @sector: first sector
 * @bytes: how much
 *
 * Context: any.
 */
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

	return label == NC_LABEL_MIXED ? label_of(c, block << c->block_shift) : label;
}

/**
 * nc_ranges_count_used() - a block that a prefetch brought is read for the first time
 * @c: live cache
 * @slot: its slot
 * @block: origin block
 *
 * Context: any; nc_cache.holds is held.
 */
void nc_ranges_count_used(struct nc_cache *c, const struct nc_slot *slot, u64 block)
{
	u16 label = label_of_slot(c, slot, block);
	u64 bytes = cached_bytes(c, slot);

	nc_count_add(c, PREFETCHED_USED_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_USED_BYTES,
			      bytes);
}

/**
 * nc_ranges_count_wasted() - a block that a prefetch brought goes unread
 * @c: live cache
 * @slot: its slot, not reachable any more
 * @block: origin block
 */
void nc_ranges_count_wasted(struct nc_cache *c, const struct nc_slot *slot, u64 block)
{
	u16 label = label_of_slot(c, slot, block);
	u64 bytes = cached_bytes(c, slot);

	nc_count_add(c, PREFETCHED_WASTED_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_WASTED_BYTES,
			      bytes);
}

/**
 * nc_ranges_count_late() - a read waits for what a prefetch is bringing
 * @c: live cache
 * @sector: first sector of the read
 * @bytes: how much
 *
 * Context: the stripe lock is held.
 */
void nc_ranges_count_late(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = nc_ranges_label(c, sector);

	nc_count_add(c, PREFETCHED_LATE_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_LATE_BYTES,
			      bytes);
}

/**
 * nc_ranges_memory() - what ranges take
 * @c: live cache
 *
 * Context: any; a hint.
 * Return: bytes.
 */
u64 nc_ranges_memory(const struct nc_cache *c)
{
	u64 count = READ_ONCE(c->ranges.count);

	return count * sizeof(struct nc_want) +
	       nc_rangemap_segments_max(count) * sizeof(struct nc_segment) +
	       nc_labels_memory(&c->ranges.labels);
}

void nc_ranges_init(struct nc_cache *c)
{
	mutex_init(&c->ranges.lock);
	INIT_DELAYED_WORK(&c->ranges.expire_work, nc_ranges_expire_work);
}

/**
 * nc_ranges_destroy() - free all of it
 * @c: cache that nobody uses any more
 *
 * Context: may sleep.
 */
void nc_ranges_destroy(struct nc_cache *c)
{
	cancel_delayed_work_sync(&c->ranges.expire_work);
	kvfree(rcu_access_pointer(c->ranges.segments));
	kvfree(c->ranges.want);
	nc_labels_destroy(&c->ranges.labels);
}
