// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of ranges: add, delete, inherit, expire.  A change builds the complete new ranges
 * beside the current ones, so that it applies as a whole or not at all.  All steps that can
 * fail come before the first visible change.
 *
 * While publish_ranges() runs, both the old and the new pins are respected: the reservation is the
 * larger of the two.
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "cache.h"
#include "ranges/lookup.h"

/* Longest period between two checks for expired ranges, in seconds. */
#define LOOK_AGAIN	(24U * 60 * 60)

/**
 * struct change - the new ranges
 * @want: in order
 * @count: number of ranges
 * @segments: @want as segments, NULL without ranges
 * @reserved: number of blocks that pinned ranges overlap
 * @touched: ranges that are added or deleted; only their blocks get new tags
 * @touched_count: number of @touched
 */
struct change {
	struct nc_want *want;
	u32 count;
	struct nc_segments *segments;
	u64 reserved;
	const struct nc_want *touched;
	u32 touched_count;
};

/* Return the clock of expiry times: seconds since boot, including time in system suspend. */
u32 nc_ranges_now(void)
{
	return ktime_get_boottime_seconds();
}

/* Return how much pins need and may use.  Any context; exact while nc_ranges.lock is held. */
void nc_ranges_room(struct nc_cache *c, struct nc_room *room)
{
	room->needed = READ_ONCE(c->ranges.reserved) * c->geo.block_size;
	room->available = nc_index_pinnable(&c->index) * c->geo.block_size;
}

/* Compute segments and pinned blocks of @to.  Returns 0, -ENOMEM, or -ELOOP: too many overlap. */
static int make_segments(struct nc_cache *c, struct change *to)
{
	struct nc_segments *s;
	int n;

	to->segments = NULL;
	to->reserved = 0;
	if (!to->count)
		return 0;
	s = kvmalloc(struct_size(s, segment, nc_rangemap_segments_max(to->count)), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	n = nc_rangemap_make(to->want, to->count, s->segment);
	if (n < 0) {
		kvfree(s);
		return -ELOOP;
	}
	s->count = n;
	to->segments = s;
	to->reserved = nc_rangemap_blocks(s->segment, n, NEARCACHE_RANGE_PIN, c->hot.block_shift);
	return 0;
}

static void retag_block(struct nc_cache *c, u64 block)
{
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);
	u32 i;

	spin_lock(&bucket->lock);
	i = nc_index_find(&c->index, block);
	if (i != NC_NIL)
		nc_ranges_retag(c, &c->index.slots[i], nc_ranges_tag(c, block));
	spin_unlock(&bucket->lock);
}

/* Does the slot's label or flags differ from those of @tagged?  Read without the lock: a hint. */
static bool wants_other(const struct nc_slot *slot, u32 tagged)
{
	struct nc_slot next = { .tagged = tagged };

	return READ_ONCE(slot->tag.label) != next.tag.label ||
	       READ_ONCE(slot->tag.wants) != next.tag.wants;
}

/* Tag all linked slots again.  nc_slots_take() gives new tags to slots that it links meanwhile. */
static void retag_slots(struct nc_cache *c)
{
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		const struct nc_slot *slot = &c->index.slots[i];
		/* Racy, as are the flags: retag_block() looks the block up under the lock. */
		u64 block = (u64)READ_ONCE(slot->block_hi) << 32 | READ_ONCE(slot->block_lo);

		if (READ_ONCE(slot->flags) & NC_SLOT_LINKED &&
		    wants_other(slot, nc_ranges_tag(c, block)))
			retag_block(c, block);
		if (!(i % 1024))
			cond_resched();
	}
}

static void retag_touched(struct nc_cache *c, const struct change *to)
{
	u64 blocks = 0, block;
	u32 i, looked = 0;

	for (i = 0; i < to->touched_count; i++)
		blocks += ((to->touched[i].end - 1) >> c->hot.block_shift) -
			  (to->touched[i].first >> c->hot.block_shift) + 1;
	if (blocks > c->index.count) {
		retag_slots(c);
		return;
	}
	for (i = 0; i < to->touched_count; i++)
		for (block = to->touched[i].first >> c->hot.block_shift;
		     block <= (to->touched[i].end - 1) >> c->hot.block_shift; block++) {
			retag_block(c, block);
			if (!(++looked % 1024))
				cond_resched();
		}
}

/* Seconds until the first range expires, at least 1; 0: none expires. */
static u32 next_expiry(const struct nc_ranges *r)
{
	u32 now = nc_ranges_now(), left = 0, i;

	for (i = 0; i < r->count; i++) {
		u32 expires = r->want[i].expires;

		if (expires && (!left || expires - min(expires, now) < left))
			left = max(expires - min(expires, now), 1U);
	}
	return left;
}

static void wait_for_expiry(struct nc_ranges *r)
{
	u32 left = next_expiry(r);

	if (left)
		mod_delayed_work(nc_unbound_wq, &r->expire_work,
				 min(left, LOOK_AGAIN) * HZ);
}

/* Make the change visible, and tag the affected slots.  Cannot fail. */
static void publish_ranges(struct nc_cache *c, const struct change *to)
{
	struct nc_ranges *r = &c->ranges;
	struct nc_segments *old = rcu_dereference_protected(r->segments,
							    lockdep_is_held(&r->lock));

	WRITE_ONCE(r->reserved, max(r->reserved, to->reserved));
	cond_resched();
	rcu_assign_pointer(r->segments, to->segments);
	/* Callers that link a slot with a tag of the old segments have finished. */
	synchronize_rcu();
	retag_touched(c, to);
	WRITE_ONCE(r->reserved, to->reserved);
	kvfree(old);
	kvfree(r->want);
	r->want = to->want;
	WRITE_ONCE(r->count, to->count);
	r->changes++;
	wait_for_expiry(r);
	r->ops->changed(c);
}

static void merge_ranges(struct nc_want *out, const struct nc_want *a, u32 na,
			 const struct nc_want *b,
			 u32 nb)
{
	while (na || nb) {
		if (!nb || (na && nc_want_compare(a, b) < 0)) {
			*out++ = *a++;
			na--;
		} else {
			*out++ = *b++;
			nb--;
		}
	}
}

static bool has_pin(const struct nc_want *want, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (want[i].flags & NEARCACHE_RANGE_PIN)
			return true;
	return false;
}

static int compare_group(const struct nc_which *a, u16 label, u8 flags)
{
	if (a->label != label)
		return a->label < label ? -1 : 1;
	return a->flags < flags ? -1 : a->flags > flags;
}

static int compare_which(const void *x, const void *y)
{
	const struct nc_which *a = x, *b = y;
	int order = compare_group(a, b->label, b->flags);

	return order ?: a->first < b->first ? -1 : a->first > b->first;
}

/*
 * Sort for lies_in().  Elements with equal label and flags form a group, sorted by start.  Raise
 * the end of each element to the largest end before it in its group.  A range then lies inside an
 * element of the group exactly if the last element that starts at or before the range contains it.
 */
static void sort_which(struct nc_which *which, u32 count)
{
	u32 i;

	sort(which, count, sizeof(*which), compare_which, NULL);
	for (i = 1; i < count; i++)
		if (!compare_group(&which[i - 1], which[i].label, which[i].flags))
			which[i].end = max(which[i].end, which[i - 1].end);
}

/* Does @want lie inside an element of @which, from sort_which(), with just this label and flags? */
static bool lies_in(const struct nc_want *want, const struct nc_which *which, u32 count,
		    u16 label, u8 flags)
{
	const struct nc_which key = { .first = want->first, .label = label, .flags = flags };
	u32 low = 0, high = count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (compare_which(&which[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !compare_group(&which[low - 1], label, flags) &&
	       want->end <= which[low - 1].end;
}

/* Does an element of @which, from sort_which(), select the range @want, see struct nc_which?  Tries
 * each subset of the flags of @want, with the label of @want and with label 0.
 */
static bool which_matches(const struct nc_which *which, u32 count, const struct nc_want *want)
{
	u8 flags = want->flags;

	if (!count)
		return false;
	for (;; flags = (flags - 1) & want->flags) {
		if (lies_in(want, which, count, 0, flags) ||
		    lies_in(want, which, count, want->id, flags))
			return true;
		if (!flags)
			return false;
	}
}

/* Does @list, sorted by nc_want_compare(), hold a range equal to @want except for the expiry? */
static bool has_equal(const struct nc_want *list, u32 count, const struct nc_want *want)
{
	u32 low = 0, high = count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (list[middle].first < want->first)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && list[low].first == want->first; low++)
		if (list[low].end == want->end && list[low].id == want->id &&
		    list[low].flags == want->flags && list[low].priority == want->priority)
			return true;
	return false;
}

/* Set a bit in @goes for each range of @r to delete.  Returns their number; sets rp->deleted. */
static u32 find_going(const struct nc_ranges *r, struct nc_replacement *rp, unsigned long *goes)
{
	u32 i, count = 0;

	for (i = 0; i < r->count; i++) {
		const struct nc_want *want = &r->want[i];
		bool kept = has_equal(rp->keep, rp->keep_count, want);
		/* A range in rp->keep may expire later than an equal one in rp->add: both stay. */
		bool superseded = rp->unique && !kept && has_equal(rp->add, rp->add_count, want);
		bool dropped = (rp->expired_at && want->expires &&
				want->expires <= rp->expired_at) ||
			       (!kept && which_matches(rp->drop, rp->drop_count, want));

		if (superseded || dropped) {
			__set_bit(i, goes);
			count++;
		}
		if (dropped && !superseded)
			rp->deleted++;
		if (!(i % 1024))
			cond_resched();
	}
	return count;
}

/*
 * Merge the added ranges and those that stay into @to->want.  List the deleted ranges, then
 * the added ranges, in @touched.
 */
static void divide_ranges(const struct nc_ranges *r, const struct nc_replacement *rp,
			  const unsigned long *goes, struct change *to, struct nc_want *touched)
{
	struct nc_want *stay = to->want + rp->add_count;
	u32 i, gone = 0, left = 0;

	/* The merge below reads each element of @stay before it overwrites that element. */
	for (i = 0; i < r->count; i++)
		if (test_bit(i, goes))
			touched[gone++] = r->want[i];
		else
			stay[left++] = r->want[i];
	if (rp->add_count)
		memcpy(touched + gone, rp->add, rp->add_count * sizeof(*rp->add));
	merge_ranges(to->want, stay, left, rp->add, rp->add_count);
	to->touched = touched;
}

static void count_labels(struct nc_labels *l, const struct nc_want *touched, u32 gone, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u64 bytes = (touched[i].end - touched[i].first) << SECTOR_SHIFT;

		if (i >= gone) {
			l->label[touched[i].id]->bytes += bytes;
		} else {
			l->label[touched[i].id]->bytes -= bytes;
			nc_labels_put(l, touched[i].id);
		}
	}
}

/* Delete the @gone ranges marked in @goes and add rp->add.  On an error nothing has changed. */
static int replace_going(struct nc_cache *c, struct nc_replacement *rp, const unsigned long *goes,
			 u32 gone, struct nc_room *room)
{
	struct nc_ranges *r = &c->ranges;
	struct change to = {
		.count = r->count - gone + rp->add_count, .touched_count = gone + rp->add_count,
	};
	struct nc_want *touched;
	int error = -ENOMEM;

	if (to.count > NC_RANGES_MAX)
		return -E2BIG;
	touched = kvmalloc_array(to.touched_count, sizeof(*touched), GFP_KERNEL);
	if (to.count)
		to.want = kvmalloc_array(to.count, sizeof(*to.want), GFP_KERNEL);
	if (!touched || (to.count && !to.want))
		goto free;
	divide_ranges(r, rp, goes, &to, touched);
	cond_resched();
	error = make_segments(c, &to);
	if (error)
		goto free;
	room->needed = to.reserved * c->geo.block_size;
	/* Pins inherited by a smaller cache may exceed the room: refuse only new pins. */
	if (room->needed > room->available && has_pin(rp->add, rp->add_count)) {
		kvfree(to.segments);
		error = -ENOSPC;
		goto free;
	}
	publish_ranges(c, &to);
	count_labels(&r->labels, touched, gone, to.touched_count);
	kvfree(touched);
	return 0;
free:
	kvfree(touched);
	kvfree(to.want);
	return error;
}

/**
 * nc_ranges_replace() - delete ranges and add others, as one change
 * @c: live cache, or one that is being loaded
 * @rp: the change
 * @room: set to the bytes that pins then need and the bytes that may be pinned, also on -ENOSPC
 *
 * Readers see either all ranges before or all ranges after the change.  Until the change is
 * complete, both old and new pins are respected.
 *
 * Context: nc_life.lock and nc_ranges.lock are held; may sleep.  Allocates memory: the caller
 * is in a memalloc_noio scope.
 * Return: 0, or an error, after which no range has changed.  -E2BIG: too many ranges.  -ELOOP: too
 * many ranges overlap.  -ENOSPC: new pins need more than @room has.  -ENOMEM.
 */
int nc_ranges_replace(struct nc_cache *c, struct nc_replacement *rp, struct nc_room *room)
{
	struct nc_ranges *r = &c->ranges;
	unsigned long *goes;
	int error = 0;
	u32 i, gone;

	nc_ranges_room(c, room);
	rp->deleted = 0;
	goes = kvcalloc(BITS_TO_LONGS(r->count) + 1, sizeof(*goes), GFP_KERNEL);
	if (!goes)
		return -ENOMEM;
	for (i = 0; i < rp->add_count; i++)
		rp->add[i].serial = ++r->serial;
	sort(rp->add, rp->add_count, sizeof(*rp->add), nc_want_compare, NULL);
	cond_resched();
	sort(rp->keep, rp->keep_count, sizeof(*rp->keep), nc_want_compare, NULL);
	cond_resched();
	sort_which(rp->drop, rp->drop_count);
	cond_resched();
	gone = find_going(r, rp, goes);
	if (gone || rp->add_count)
		error = replace_going(c, rp, goes, gone, room);
	if (error)
		rp->deleted = 0;
	kvfree(goes);
	return error;
}

/* Send an event for a change that no user requested: now, or as soon as a table is live. */
static void report_change(struct nc_cache *c)
{
	if (c->life.active)
		nc_health_event(c, NEARCACHE_EVENT_RANGES);
	else
		c->ranges.unreported = true;
}

static void expire_ranges(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work), struct nc_cache,
					  ranges.expire_work);
	struct nc_replacement rp = { .expired_at = nc_ranges_now() };
	unsigned int noio = memalloc_noio_save();
	struct nc_room room;

	mutex_lock(&c->life.lock);
	mutex_lock(&c->ranges.lock);
	/* After -ENOMEM, try again in a second. */
	if (nc_ranges_replace(c, &rp, &room) || !rp.deleted)
		wait_for_expiry(&c->ranges);
	mutex_unlock(&c->ranges.lock);
	if (rp.deleted)
		report_change(c);
	mutex_unlock(&c->life.lock);
	memalloc_noio_restore(noio);
}

/* Copy the ranges of @before to @want, cut at sector @end, and return how many remain.  The labels
 * of @c are a copy that holds a reference per range: drop the references of ranges behind @end.
 */
static u32 clip_ranges(struct nc_cache *c, const struct nc_ranges *before, u64 end,
		       struct nc_want *want)
{
	u32 i, n = 0;

	for (i = 0; i < before->count; i++) {
		if (before->want[i].first >= end) {
			nc_labels_put(&c->ranges.labels, before->want[i].id);
			continue;
		}
		want[n] = before->want[i];
		want[n].end = min(want[n].end, end);
		n++;
	}
	return n;
}

static int inherit_wants(struct nc_cache *c, const struct nc_ranges *before, u64 end)
{
	struct nc_replacement rp = { };
	struct nc_want *want;
	struct nc_room room;
	int error = -ENOMEM;
	u32 n, i;

	want = kvmalloc_array(before->count, sizeof(*want), GFP_KERNEL);
	if (!want)
		return error;
	error = nc_labels_copy(&c->ranges.labels, &before->labels);
	if (error)
		goto free;
	n = clip_ranges(c, before, end, want);
	if (!n)
		goto free;
	rp.add = want;
	rp.add_count = n;
	error = nc_ranges_replace(c, &rp, &room);
	if (error == -ENOSPC) {
		DMWARN("%s: pins need %llu bytes, the new cache has room for %llu: no pin is kept",
		       nc_cache_name(c), room.needed, room.available);
		/* Drop bypass as well: pin overrode it, and the blocks are cached. */
		for (i = 0; i < n; i++)
			if (want[i].flags & NEARCACHE_RANGE_PIN)
				want[i].flags &= ~(NEARCACHE_RANGE_PIN | NEARCACHE_RANGE_BYPASS);
		error = nc_ranges_replace(c, &rp, &room);
	}
free:
	kvfree(want);
	return error;
}

/**
 * nc_ranges_inherit() - take over the ranges of the cache that the dm device had before
 * @c: cache that is about to be loaded; if the load fails, the next cache inherits from @c
 * @before: cache whose device was given up, but whose ranges users still want
 * @end: size of the origin in sectors, where ranges are cut
 *
 * If the new cache has no room for all pins, it gets no pins; after another error, no ranges.
 *
 * Context: nc_life.lock of @c is held; may sleep.  Allocates memory: the caller is in a
 * memalloc_noio scope.
 */
void nc_ranges_inherit(struct nc_cache *c, struct nc_cache *before, u64 end)
{
	struct nc_ranges *from = &before->ranges, *to = &c->ranges;
	int error;

	/* Caches of one dm device form a sequence: the lock of the newer one nests inside. */
	mutex_lock(&from->lock);
	mutex_lock_nested(&to->lock, SINGLE_DEPTH_NESTING);
	if (from->count && !to->count) {
		/* A netlink dump in progress notices that the ranges changed. */
		to->changes = from->changes + 1;
		to->unreported = true;
		error = inherit_wants(c, from, end);
		if (!error) {
			nc_labels_move_counts(&to->labels, &from->labels);
		} else {
			nc_labels_clear(&to->labels);
			DMERR("%s: cannot take over ranges and pins (%d): set them again",
			      nc_cache_name(c), error);
		}
	}
	mutex_unlock(&to->lock);
	mutex_unlock(&from->lock);
}

/* Tag the slots that the load linked.  Context: nc_life.lock; may sleep, waits for no I/O. */
void nc_ranges_loaded(struct nc_cache *c)
{
	mutex_lock(&c->ranges.lock);
	if (nc_ranges_any(c))
		retag_slots(c);
	mutex_unlock(&c->ranges.lock);
}

/**
 * nc_ranges_grown() - tag the last block again after the size of the origin changed
 * @c: cache, no I/O runs
 * @old: the smaller one of the sizes before and after, in bytes
 *
 * A range that covered all of this block may cover a part of it now, or the reverse.
 *
 * Context: nc_life.lock is held; may sleep, waits for no I/O.
 */
void nc_ranges_grown(struct nc_cache *c, u64 old)
{
	mutex_lock(&c->ranges.lock);
	retag_block(c, ((old >> SECTOR_SHIFT) - 1) >> c->hot.block_shift);
	mutex_unlock(&c->ranges.lock);
}

/* Send the event of earlier changes, after a dm table went live.  Context: nc_life.lock is held. */
void nc_ranges_live(struct nc_cache *c)
{
	if (c->ranges.unreported)
		nc_health_event(c, NEARCACHE_EVENT_RANGES);
	c->ranges.unreported = false;
}

void nc_ranges_init(struct nc_cache *c, const struct nc_ranges_ops *ops)
{
	c->ranges.ops = ops;
	mutex_init(&c->ranges.lock);
	INIT_DELAYED_WORK(&c->ranges.expire_work, expire_ranges);
}

/* Free all ranges.  The caller ensures that nothing uses the cache any more. */
void nc_ranges_destroy(struct nc_cache *c)
{
	cancel_delayed_work_sync(&c->ranges.expire_work);
	kvfree(rcu_access_pointer(c->ranges.segments));
	kvfree(c->ranges.want);
	nc_labels_destroy(&c->ranges.labels);
}
