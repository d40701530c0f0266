// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges are added, deleted, inherited, or have had their time.  A change makes all of it
 * anew beside what there is, so that it happens as a whole or not at all; what can fail is
 * over before anything is changed.
 *
 * In between (publish()) both the old and the new pins are respected: what is reserved is the
 * more of both.
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "cache.h"
#include "ranges/lookup.h"

/* Expiry looks again after so many seconds, at the latest. */
#define LOOK_AGAIN	(24U * 60 * 60)

/**
 * struct change - ranges as they shall be
 * @want: in order
 * @count: how many
 * @segments: what they come to, NULL without ranges
 * @reserved: blocks that are pinned
 * @touched: ranges that come or go: only their blocks change
 * @touched_count: how many
 */
struct change {
	struct nc_want *want;
	u32 count;
	struct nc_segments *segments;
	u64 reserved;
	const struct nc_want *touched;
	u32 touched_count;
};

/* The clock of leases, in seconds. */
u32 nc_ranges_now(void)
{
	return ktime_get_boottime_seconds();
}

/**
 * nc_ranges_room() - what pins take, and may take
 * @c: live cache
 * @room: where to put it
 *
 * Context: any; exact while nc_ranges.lock is held.
 */
void nc_ranges_room(struct nc_cache *c, struct nc_room *room)
{
	room->needed = READ_ONCE(c->ranges.reserved) * c->geo.block_size;
	room->available = nc_index_pinnable(&c->index) * c->geo.block_size;
}

/* Fills in what follows from the ranges.  Returns 0, -ENOMEM or -ELOOP. */
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

/* A hint, without a lock. */
static bool wants_other(const struct nc_slot *slot, u32 tagged)
{
	struct nc_slot next = { .tagged = tagged };

	return READ_ONCE(slot->tag.label) != next.tag.label ||
	       READ_ONCE(slot->tag.wants) != next.tag.wants;
}

/* All slots: one that is linked meanwhile is tagged by who links it. */
static void retag_slots(struct nc_cache *c)
{
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		const struct nc_slot *slot = &c->index.slots[i];
		/* Read without a lock, as the flags: retag_block() looks it up. */
		u64 block = (u64)READ_ONCE(slot->block_hi) << 32 | READ_ONCE(slot->block_lo);

		if (READ_ONCE(slot->flags) & NC_SLOT_LINKED &&
		    wants_other(slot, nc_ranges_tag(c, block)))
			retag_block(c, block);
		if (!(i % 1024))
			cond_resched();
	}
}

static void retag(struct nc_cache *c, const struct change *to)
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

/* Seconds until the first range has had its time; 0: none will. */
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
		mod_delayed_work(system_unbound_wq, &r->expire_work,
				 min(left, LOOK_AGAIN) * HZ);
}

/* From here on it is so. */
static void publish(struct nc_cache *c, const struct change *to)
{
	struct nc_ranges *r = &c->ranges;
	struct nc_segments *old = rcu_dereference_protected(r->segments,
							    lockdep_is_held(&r->lock));

	WRITE_ONCE(r->reserved, max(r->reserved, to->reserved));
	cond_resched();
	rcu_assign_pointer(r->segments, to->segments);
	/* Who links a slot by what there was has done so. */
	synchronize_rcu();
	retag(c, to);
	WRITE_ONCE(r->reserved, to->reserved);
	kvfree(old);
	kvfree(r->want);
	r->want = to->want;
	WRITE_ONCE(r->count, to->count);
	r->changes++;
	wait_for_expiry(r);
	r->ops->changed(c);
}

static void merge(struct nc_want *out, const struct nc_want *a, u32 na, const struct nc_want *b,
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

/**
 * nc_ranges_add() - add ranges: all, or none
 * @c: live cache, or one that is just being loaded
 * @add: ranges, none of them empty, all inside the origin; sorted and numbered.  Each has a
 *	reference to its label, which is the caller's still on failure
 * @count: how many, not 0
 * @room: where to put what pins would need, and may
 *
 * Context: nc_life.lock and nc_ranges.lock are held; may sleep, waits for no I/O when told so.
 * Return: 0; -E2BIG: too many; -ELOOP: too many overlap; -ENOSPC: see @room; -ENOMEM.
 */
int nc_ranges_add(struct nc_cache *c, struct nc_want *add, u32 count, struct nc_room *room)
{
	struct nc_ranges *r = &c->ranges;
	struct change to = {
		.count = r->count + count, .touched = add, .touched_count = count,
	};
	int error;
	u32 i;

	nc_ranges_room(c, room);
	if (count > NC_RANGES_MAX - r->count)
		return -E2BIG;
	to.want = kvmalloc_array(to.count, sizeof(*to.want), GFP_KERNEL);
	if (!to.want)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		add[i].serial = ++r->serial;
	sort(add, count, sizeof(*add), nc_want_compare, NULL);
	cond_resched();
	merge(to.want, r->want, r->count, add, count);
	cond_resched();
	error = make_segments(c, &to);
	if (error)
		goto free;
	room->needed = to.reserved * c->geo.block_size;
	/* What does not pin is not to blame for what does. */
	if (room->needed > room->available && has_pin(add, count)) {
		kvfree(to.segments);
		error = -ENOSPC;
		goto free;
	}
	publish(c, &to);
	for (i = 0; i < count; i++)
		r->labels.label[add[i].id]->bytes += (add[i].end - add[i].first) << SECTOR_SHIFT;
	return 0;
free:
	kvfree(to.want);
	return error;
}

static bool is_meant(const struct nc_want *want, const struct nc_which *which)
{
	return which->first <= want->first && want->end <= which->end &&
	       (!which->label || which->label == want->id) &&
	       (want->flags & which->flags) == which->flags;
}

/* The ranges that are not in @goes stay.  Returns 0, or an error: then all do. */
static int drop(struct nc_cache *c, const unsigned long *goes)
{
	struct nc_ranges *r = &c->ranges;
	struct change to = { .touched_count = bitmap_weight(goes, r->count) };
	u32 i, gone = 0, left = 0;
	struct nc_want *touched;
	int error = -ENOMEM;

	to.count = r->count - to.touched_count;
	touched = kvmalloc_array(to.touched_count, sizeof(*touched), GFP_KERNEL);
	if (to.count)
		to.want = kvmalloc_array(to.count, sizeof(*to.want), GFP_KERNEL);
	if (!touched || (to.count && !to.want))
		goto free;
	for (i = 0; i < r->count; i++)
		if (test_bit(i, goes))
			touched[gone++] = r->want[i];
		else
			to.want[left++] = r->want[i];
	to.touched = touched;
	error = make_segments(c, &to);
	if (error)
		goto free;
	publish(c, &to);
	for (i = 0; i < gone; i++) {
		r->labels.label[touched[i].id]->bytes -=
			(touched[i].end - touched[i].first) << SECTOR_SHIFT;
		nc_labels_put(&r->labels, touched[i].id);
	}
	kvfree(touched);
	return 0;
free:
	kvfree(touched);
	kvfree(to.want);
	return error;
}

/* Delete what is meant by one of @which, or has had its time at @now; 0: nothing has. */
static int drop_meant(struct nc_cache *c, const struct nc_which *which, u32 count, u32 now,
		      u64 *deleted)
{
	struct nc_ranges *r = &c->ranges;
	unsigned long *goes;
	int error = 0;
	u32 i, k;

	*deleted = 0;
	if (!r->count)
		return 0;
	goes = kvcalloc(BITS_TO_LONGS(r->count), sizeof(*goes), GFP_KERNEL);
	if (!goes)
		return -ENOMEM;
	for (i = 0; i < r->count; i++) {
		bool meant = now && r->want[i].expires && r->want[i].expires <= now;

		for (k = 0; k < count && !meant; k++)
			meant = is_meant(&r->want[i], &which[k]);
		if (meant) {
			__set_bit(i, goes);
			(*deleted)++;
		}
		if (!(i % 1024))
			cond_resched();
	}
	if (*deleted)
		error = drop(c, goes);
	if (error)
		*deleted = 0;
	kvfree(goes);
	return error;
}

/**
 * nc_ranges_delete() - delete ranges
 * @c: live cache
 * @which: those that lie in one of these and are meant by it
 * @count: how many there are of @which
 * @deleted: where to put how many were deleted
 *
 * Context: nc_life.lock and nc_ranges.lock are held; may sleep, waits for no I/O when told so.
 * Return: 0; -ENOMEM: nothing was deleted.
 */
int nc_ranges_delete(struct nc_cache *c, const struct nc_which *which, u32 count, u64 *deleted)
{
	return drop_meant(c, which, count, 0, deleted);
}

/* Ranges changed, and nobody asked for it. */
static void tell(struct nc_cache *c)
{
	if (c->life.active)
		nc_health_event(c, NEARCACHE_EVENT_RANGES);
	else
		c->ranges.untold = true;
}

static void expire_ranges(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work), struct nc_cache,
					  ranges.expire_work);
	unsigned int noio = memalloc_noio_save();
	u64 deleted;

	mutex_lock(&c->life.lock);
	mutex_lock(&c->ranges.lock);
	/* Without memory: in a second. */
	if (drop_meant(c, NULL, 0, nc_ranges_now(), &deleted) || !deleted)
		wait_for_expiry(&c->ranges);
	mutex_unlock(&c->ranges.lock);
	if (deleted)
		tell(c);
	mutex_unlock(&c->life.lock);
	memalloc_noio_restore(noio);
}

/* The ranges of @before, up to sector @end, with the references of its own
 * labels, which were copied.  Returns how many.
 */
static u32 clip(struct nc_cache *c, const struct nc_ranges *before, u64 end, struct nc_want *want)
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
	n = clip(c, before, end, want);
	if (!n)
		goto free;
	error = nc_ranges_add(c, want, n, &room);
	if (error == -ENOSPC) {
		DMWARN("%s: pins need %llu bytes, the new cache has room for %llu: none stays",
		       nc_cache_name(c), room.needed, room.available);
		/* What was cached as it was pinned is cached still. */
		for (i = 0; i < n; i++)
			if (want[i].flags & NEARCACHE_RANGE_PIN)
				want[i].flags &= ~(NEARCACHE_RANGE_PIN | NEARCACHE_RANGE_BYPASS);
		error = nc_ranges_add(c, want, n, &room);
	}
free:
	kvfree(want);
	return error;
}

/**
 * nc_ranges_inherit() - take over the ranges of the cache that the dm device had before
 * @c: cache that is about to be loaded; if that fails, the next one may take them over from it
 * @before: the cache before; its device was given up, but users still want these ranges
 * @end: size of the origin, sectors
 *
 * Context: nc_life.lock of @c is held; may sleep, waits for no I/O when told so.
 */
void nc_ranges_inherit(struct nc_cache *c, struct nc_cache *before, u64 end)
{
	struct nc_ranges *from = &before->ranges, *to = &c->ranges;
	int error;

	/* One dm device's caches follow each other: the newer one's is the inner. */
	mutex_lock(&from->lock);
	mutex_lock_nested(&to->lock, SINGLE_DEPTH_NESTING);
	if (from->count && !to->count) {
		/* Who dumps them notices that they are others. */
		to->changes = from->changes + 1;
		to->untold = true;
		error = inherit_wants(c, from, end);
		if (!error) {
			nc_labels_move_counts(&to->labels, &from->labels);
		} else {
			nc_labels_clear(&to->labels);
			DMERR("%s: ranges and pins are lost (%d): give them again",
			      nc_cache_name(c), error);
		}
	}
	mutex_unlock(&to->lock);
	mutex_unlock(&from->lock);
}

/**
 * nc_ranges_loaded() - slots were linked without a look at the ranges
 * @c: cache that was just loaded
 *
 * Context: nc_life.lock is held; may sleep, waits for no I/O.
 */
void nc_ranges_loaded(struct nc_cache *c)
{
	mutex_lock(&c->ranges.lock);
	if (nc_ranges_any(c))
		retag_slots(c);
	mutex_unlock(&c->ranges.lock);
}

/**
 * nc_ranges_grown() - the origin has another size
 * @c: cache, no I/O runs
 * @old: smaller one of the sizes before and after, bytes
 *
 * What was all of its last block may be a part of it now.
 *
 * Context: nc_life.lock is held; may sleep, waits for no I/O.
 */
void nc_ranges_grown(struct nc_cache *c, u64 old)
{
	mutex_lock(&c->ranges.lock);
	retag_block(c, ((old >> SECTOR_SHIFT) - 1) >> c->hot.block_shift);
	mutex_unlock(&c->ranges.lock);
}

/* A table went live: now it can be told what happened before.  Context: nc_life.lock is held. */
void nc_ranges_live(struct nc_cache *c)
{
	if (c->ranges.untold)
		nc_health_event(c, NEARCACHE_EVENT_RANGES);
	c->ranges.untold = false;
}

void nc_ranges_init(struct nc_cache *c, const struct nc_ranges_ops *ops)
{
	c->ranges.ops = ops;
	mutex_init(&c->ranges.lock);
	INIT_DELAYED_WORK(&c->ranges.expire_work, expire_ranges);
}

/* @c: cache that nobody uses any more. */
void nc_ranges_destroy(struct nc_cache *c)
{
	cancel_delayed_work_sync(&c->ranges.expire_work);
	kvfree(rcu_access_pointer(c->ranges.segments));
	kvfree(c->ranges.want);
	nc_labels_destroy(&c->ranges.labels);
}
