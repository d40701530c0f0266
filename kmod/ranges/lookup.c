// SPDX-License-Identifier: GPL-2.0-only
/*
 * Look-up of ranges: when a block gets a slot, when a read misses, and for the counters of
 * blocks with several labels.  A hit uses the tag of its slot instead.
 */
#include <linux/slab.h>

#include "cache.h"
#include "io/fill.h"
#include "ranges/lookup.h"

/* A sector has at most one label. */
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

/* The label id of a sector, 0: none.  Any context. */
u16 nc_ranges_label(struct nc_cache *c, sector_t sector)
{
	return nc_ranges_any(c) ? label_of(c, sector) : 0;
}

/* Compute the tag of a block from the segments of its sectors.  A pin of any sector pins the block,
 * because its slot is evicted as a whole.  Every other flag must apply to all sectors.
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
 * nc_ranges_tag() - the tag that ranges give a block
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

/* Change the tag of a linked slot to @tagged, under the bucket lock of its block. */
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
	/* An active plan may have skipped the block as pinned: it is evictable again. */
	if (was && !pin && nc_foresight_any(c))
		nc_foresight_took(c, nc_slot_block(slot));
}

static bool keeps_out(u8 flags)
{
	return (flags & NEARCACHE_RANGE_BYPASS) && !(flags & NEARCACHE_RANGE_PIN);
}

/* Must a block not be cached?  Any context. */
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

/* Is any part of a block pinned?  Any context. */
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
 * nc_ranges_bypassed() - must a missing piece not be cached?
 * @c: live cache
 * @span: missing sub-blocks; shortened to those that the answer applies to
 *
 * A sub-block that is bypassed only in part is cached.
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
		/* Join adjacent bypassed segments. */
		begin = at->first;
		while (at + 1 < behind && at[1].first == at->end && at->end < end &&
		       keeps_out(at[1].flags))
			at++;
		/* Sub-blocks wholly inside: from @first, up to before @last. */
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

/* Pinned blocks without a slot.  Any context; a hint. */
u64 nc_ranges_owed(const struct nc_cache *c)
{
	u64 reserved = READ_ONCE(c->ranges.reserved);
	u64 pinned = atomic64_read(&c->ranges.pinned);

	return reserved > pinned ? reserved - pinned : 0;
}

/* A hit on a block with several labels: count @bytes for the label of @sector.  Any context. */
void nc_ranges_count_mixed(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = label_of(c, sector);

	if (label)
		nc_labels_count_hit(&c->ranges.labels, label, bytes);
}

/* Count a read that the cache device does not serve, by label.  Any context. */
void nc_ranges_count_miss(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = nc_ranges_label(c, sector);

	if (!label)
		return;
	nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_MISSES, 1);
	nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_MISS_BYTES, bytes);
}

/* Count bytes read from the origin, by label.  Any context. */
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

/* Count the first read of a prefetched block.  Any context, in a hit section. */
void nc_ranges_count_used(struct nc_cache *c, const struct nc_slot *slot, u64 block)
{
	u16 label = label_of_slot(c, slot, block);
	u64 bytes = cached_bytes(c, slot);

	nc_count_add(c, PREFETCHED_USED_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_USED_BYTES,
			      bytes);
}

/* Count a prefetched block that is evicted unread.  No reader can reach the slot any more. */
void nc_ranges_count_wasted(struct nc_cache *c, const struct nc_slot *slot, u64 block)
{
	u16 label = label_of_slot(c, slot, block);
	u64 bytes = cached_bytes(c, slot);

	nc_count_add(c, PREFETCHED_WASTED_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_WASTED_BYTES,
			      bytes);
}

/* Count a read that waits for a prefetch in flight.  Under the bucket lock. */
void nc_ranges_count_late(struct nc_cache *c, sector_t sector, u32 bytes)
{
	u16 label = nc_ranges_label(c, sector);

	nc_count_add(c, PREFETCHED_LATE_BYTES, bytes);
	if (label)
		nc_labels_add(&c->ranges.labels, label, NEARCACHE_LABEL_PREFETCHED_LATE_BYTES,
			      bytes);
}

/* Memory of ranges and labels, bytes.  Any context; a hint. */
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

/* The cache is not in use any more.  May sleep. */
void nc_ranges_destroy(struct nc_cache *c)
{
	cancel_delayed_work_sync(&c->ranges.expire_work);
	kvfree(rcu_access_pointer(c->ranges.segments));
	kvfree(c->ranges.want);
	nc_labels_destroy(&c->ranges.labels);
}
