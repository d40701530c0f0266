// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim.  A worker keeps some slots free, so that fills never wait for an eviction.  It unlinks
 * victims in batches; for each batch it waits once for hits and commits the slot table once.  It
 * does not wait for a hit that takes long, but sets aside the slots that this hit may use.
 *
 * Pinned blocks are never evicted.  Reclaim keeps additional slots free for pinned blocks that
 * have no slot yet; other blocks cannot take these slots.  For pinned blocks and for the prefetch
 * reserve (prefetch_reserve.c) it also evicts blocks that are not idle, least recently used first.
 */
#include "cache.h"
#include "meta/meta.h"
#include "ranges/lookup.h"
#include "evict/reclaim.h"
#include "evict/free_slots.h"
#include "core/tracepoints.h"

/* Ticks since the last use, divided by 2^priority of the block's range.  From half of NC_STAMP_FAR
 * on the ticks are not divided: otherwise no age could reach a large learnt limit.
 */
static u32 slot_age(const struct nc_slot *slot, u32 now)
{
	u32 age = (now - READ_ONCE(slot->stamp)) & NC_STAMP_TICK;

	/* The stamp is ahead of the clock: the slot was just used. */
	if (age >= NC_STAMP_FAR)
		return 0;
	if (age >= NC_STAMP_FAR / 2)
		return age;
	return age >> (READ_ONCE(slot->tag.wants) >> NC_WANTS_PRIORITY_SHIFT);
}

static bool is_idle(struct nc_cache *c, const struct nc_slot *slot, u32 now)
{
	u16 stamp = READ_ONCE(slot->stamp);

	if (nc_plan_any(c))
		return nc_plan_is_stray(c, nc_slot_block_hint(slot));

	if (unlikely(READ_ONCE(slot->tagged)))
		stamp = (stamp & NC_STAMP_REUSED) | ((now - slot_age(slot, now)) & NC_STAMP_TICK);
	return c->hot.policy_ops->idle(&c->policy.keep, stamp, now);
}

/* Do a range's flags or the state of prefetched data allow an early eviction of the block? */
static bool is_unwanted(const struct nc_cache *c, const struct nc_slot *slot, u32 now)
{
	u8 wants = READ_ONCE(slot->tag.wants), ahead = READ_ONCE(slot->tag.ahead);
	u32 ticks = (now - READ_ONCE(slot->stamp)) & NC_STAMP_TICK;

	if (wants & NEARCACHE_RANGE_BYPASS)
		return true;
	if (likely(!(wants | ahead)))
		return false;
	if (nc_prefetched_is_over(slot))
		return true;
	if (ahead & NC_AHEAD_UNREAD)
		return nc_prefetched_is_left(c, slot, ticks);
	/* Not in the tick of the last use: readers may still come for the next sub-blocks. */
	return (wants & NEARCACHE_RANGE_EVICT_AFTER_USE || ahead) && ticks;
}

static bool is_evictable(const struct nc_slot *slot)
{
	return READ_ONCE(slot->flags) & NC_SLOT_LINKED &&
	       !nc_tag_is_pinned(READ_ONCE(slot->tagged));
}

/* May the slot be evicted: no valid data, unwanted, written but never read, or idle?
 * Reads without locks, so a hint.
 */
static bool is_victim(struct nc_cache *c, const struct nc_slot *slot,
		      u32 now)
{
	u8 flags = READ_ONCE(slot->flags);

	if (!is_evictable(slot))
		return false;
	return !READ_ONCE(slot->valid) || is_unwanted(c, slot, now) ||
	       (flags & NC_SLOT_WRITTEN && !(READ_ONCE(slot->stamp) & NC_STAMP_REUSED)) ||
	       is_idle(c, slot, now);
}

/* Can no slot be evicted in the part of the index that has @block?  Slots of this part are set
 * aside, or as many slots are set aside as there is room for.
 */
static bool is_part_busy(struct nc_cache *c, u64 block)
{
	u32 part = nc_hit_part(nc_index_hash(&c->index, block));

	return c->reclaim.aside && (c->reclaim.aside == NC_RECLAIM_BATCH ||
				    test_bit(part, c->reclaim.busy));
}

/* Keep a block of the prefetch reserve that readers have finished if its hash is at or below the
 * retention threshold.  Its slot then leaves the reserve.  Returns whether the block stays.
 * Context: the block's bucket lock is held.
 */
static bool retain_finished(struct nc_cache *c, struct nc_slot *slot, u64 block)
{
	if (!nc_prefetched_is_over(slot) || nc_plan_any(c) ||
	    !retain_in_force(&c->policy.retain, &c->policy.keep) ||
	    !retain_keeps(&c->policy.retain, block))
		return false;
	nc_prefetched_stays(c, slot);
	/* The reserve needs another slot. */
	WRITE_ONCE(c->policy.retain.wanted, true);
	return true;
}

/* Unlink slot @i if it is a victim, or with @forced if it is evictable.  Returns true if unlinked.
 * nc_slot_block_hint() reads without a lock: only the look-up under the bucket lock proves that the
 * slot still holds this block.
 */
static bool unlink_victim(struct nc_cache *c, u32 i, u32 now, bool forced)
{
	struct nc_slot *slot = &c->index.slots[i];
	u64 block = nc_slot_block_hint(slot);
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);
	bool victim;

	if (is_part_busy(c, block))
		return false;
	spin_lock(&bucket->lock);
	victim = nc_index_find(&c->index, block) == i &&
		 (forced ? is_evictable(slot) : is_victim(c, slot, now)) &&
		 !nc_bucket_is_filling(bucket, block) && !retain_finished(c, slot, block);
	if (victim) {
		nc_index_unlink(&c->index, i);
		bucket->drops++;
		/* Under the lock: an invalidation that does not find the block
		 * relies on the next commit to drop the block from the medium.
		 */
		nc_table_dirty(c, i);
		if (nc_plan_any(c))
			nc_plan_gone(c, block);
	}
	spin_unlock(&bucket->lock);
	if (victim) {
		nc_prefetched_gone(c, slot, block);
		trace_nearcache_evict(c->dev.dm_devt,
				      block << c->hot.block_shift, i,
				      READ_ONCE(slot->valid));
	}
	return victim;
}

static void free_slot(struct nc_cache *c, u32 i)
{
	struct nc_slot *slot = &c->index.slots[i];

	if (slot->valid)
		nc_count(c, EVICTIONS);
	atomic64_sub(hweight64(slot->valid), &c->slots.valid_subblocks);
	nc_index_push(&c->index, i);
	atomic64_dec(&c->slots.used);
}

/* Free the @n unlinked slots in @from, except those that a hit section may use: set these aside.
 * @over: a round has ended since the slots were unlinked.  Otherwise asks once for each part of the
 * index: the answer holds for all slots of the part, because all were unlinked before.
 */
static void free_slots(struct nc_cache *c, const u32 *from, u32 n, bool over)
{
	DECLARE_BITMAP(asked, NC_HIT_PARTS) = {};
	DECLARE_BITMAP(idle, NC_HIT_PARTS) = {};
	struct nc_reclaim *r = &c->reclaim;
	u32 k;

	for (k = 0; k < n; k++) {
		u32 i = from[k];
		u32 part = nc_hit_part(nc_index_hash(&c->index,
						     nc_slot_block(&c->index.slots[i])));

		if (!over && !__test_and_set_bit(part, asked) &&
		    nc_hit_part_idle(&c->hot.hit_srcu, part))
			__set_bit(part, idle);
		if (over || test_bit(part, idle)) {
			free_slot(c, i);
		} else {
			__set_bit(part, r->busy);
			r->held[r->aside] = i;
			WRITE_ONCE(r->aside, r->aside + 1);
		}
	}
}

/* Free the slots that were set aside and that no hit section uses any more. */
static void free_held(struct nc_cache *c, bool over)
{
	struct nc_reclaim *r = &c->reclaim;
	u32 n = r->aside;

	WRITE_ONCE(r->aside, 0);
	bitmap_zero(r->busy, NC_HIT_PARTS);
	/* Writes to the start of the array that it reads, at most as far as it has read. */
	free_slots(c, r->held, n, over);
	if (r->aside < n) {
		nc_slots_look_again(c);
		nc_reserve_wake(c);
	}
}

/* Free the slots that were set aside.  No hit is in flight, and the worker does not run. */
void nc_reclaim_settle(struct nc_cache *c)
{
	if (READ_ONCE(c->hot.state) != NEARCACHE_BYPASS)
		free_held(c, false);
}

/* Microseconds for nc_hit_synchronize(): a round takes about 0.1 ms.  While the last round did not
 * end, wait just long enough for other hits.
 */
#define WAIT_FOR_HITS	6400U
#define WAIT_AGAIN	400U

/* Free the first @n slots of the batch, after all hits that may read from them have ended and the
 * slot table on the cache device no longer maps them to their old blocks.  If a hit section lasts
 * long, because its reader gets no processor or the hit hangs in the device, set aside the slots in
 * its part of the index, and free the others.
 */
static void release_batch(struct nc_cache *c, u32 n)
{
	bool over;

	if (!n)
		return;
	over = nc_hit_synchronize(&c->hot.hit_srcu,
				  c->reclaim.aside ? WAIT_AGAIN : WAIT_FOR_HITS);
	if (READ_ONCE(c->meta->commit.live) && nc_commit_run(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
	/* In bypass nothing is cached: leave the slots as they are. */
	if (READ_ONCE(c->hot.state) == NEARCACHE_BYPASS)
		return;
	free_held(c, over);
	free_slots(c, c->reclaim.batch, n, over);
	nc_reserve_wake(c);
}

/* Evictions for a pin or job take the least recently used of this many slots. */
#define SAMPLE	16U

/**
 * struct pass - a pass of the worker over the slots
 * @c: live cache
 * @want: number of free slots at which the pass ends
 * @n: number of unlinked slots in nc_reclaim.batch
 * @found: number of victims so far
 * @strays: number of blocks outside the plan that take_idle() met, evicted or still being filled
 */
struct pass {
	struct nc_cache *c;
	u32 want;
	u32 n;
	u32 found;
	u32 strays;
};

/* Number of slots set aside that count as free, lest a pass evict other blocks in their place.  At
 * most half of those that the pass has to free: hits may hang for long, and readers need slots.
 */
static u32 count_aside(const struct pass *p)
{
	u32 aside = p->c->reclaim.aside;

	return aside ? min3(aside, p->want / 2, nc_slots_high_mark(p->c) / 2) : 0;
}

static bool is_over(const struct pass *p)
{
	return READ_ONCE(p->c->index.free.count) + p->n + count_aside(p) >= p->want ||
	       READ_ONCE(p->c->hot.state) != NEARCACHE_NORMAL ||
	       p->c->reclaim.aside == NC_RECLAIM_BATCH;
}

static void finish_batch(struct pass *p)
{
	release_batch(p->c, p->n);
	p->n = 0;
}

static u32 next_slot(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 i = c->reclaim.hand;

	c->reclaim.hand = i + 1 < c->index.count ? i + 1 : 0;
	if (!(i % 4096))
		cond_resched();
	return i;
}

static bool take_victim(struct pass *p, u32 i, bool forced)
{
	struct nc_cache *c = p->c;

	/* There must be room to set the whole batch aside. */
	if (p->n + c->reclaim.aside == NC_RECLAIM_BATCH)
		finish_batch(p);
	if (!unlink_victim(c, i, READ_ONCE(c->hot.now), forced))
		return false;
	c->reclaim.batch[p->n++] = i;
	p->found++;
	return true;
}

/* With a plan: evict the blocks whose next use is farthest.  A block that is being filled cannot be
 * evicted yet: lower p->want, by at most half, rather than evict a block that is read sooner.  A
 * block in a part with a long hit stays in the plan as well, but does not lower p->want.
 */
static void take_farthest(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 i, end = NC_BELADY_NONE, spare = nc_slots_high_mark(c) / 2;
	u64 block;
	int hold;

	while (!is_over(p) && nc_plan_farthest(c, &end, &block)) {
		hold = nc_hit_lock(&c->hot.hit_srcu, nc_index_hash(&c->index, block));
		i = nc_index_find(&c->index, block);
		nc_hit_unlock(&c->hot.hit_srcu, hold);
		if (i != NC_NIL && !take_victim(p, i, true) && is_evictable(&c->index.slots[i])) {
			nc_plan_took(c, block, false, false);
			if (!is_part_busy(c, block)) {
				WRITE_ONCE(c->reclaim.awaits_fills, true);
				p->want -= !!spare;
				spare -= !!spare;
			}
		}
		cond_resched();
	}
}

/* Evict idle blocks, in one round over all slots.  Reads the clock for each slot: releasing a batch
 * takes time, and the stamp of a slot used meanwhile would be ahead of an old clock.
 */
static void take_idle(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 looked;

	for (looked = 0; looked < c->index.count && !is_over(p); looked++) {
		u32 i = next_slot(p);

		if (!is_victim(c, &c->index.slots[i], READ_ONCE(c->hot.now)))
			continue;
		p->strays += READ_ONCE(c->index.slots[i].valid) &&
			     nc_plan_is_stray(c, nc_slot_block_hint(&c->index.slots[i]));
		take_victim(p, i, false);
	}
}

/* Is the block not wanted by a range, not prefetched, not read again, and above the threshold? */
static bool is_surplus(struct nc_cache *c, const struct nc_slot *slot)
{
	return is_evictable(slot) && !READ_ONCE(slot->tag.wants) && !READ_ONCE(slot->tag.ahead) &&
	       !(READ_ONCE(slot->stamp) & NC_STAMP_REUSED) &&
	       !retain_keeps(&c->policy.retain, nc_slot_block_hint(slot));
}

/* Most rounds of take_surplus() over all slots, each with a lower retention threshold. */
#define NARROWED	4U

/* Evict blocks above the retention threshold; lower it if that is not enough. */
static void take_surplus(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 looked, round;

	for (round = 0; round < NARROWED; round++) {
		for (looked = 0; looked < c->index.count && !is_over(p); looked++) {
			u32 i = next_slot(p);

			if (is_surplus(c, &c->index.slots[i]))
				take_victim(p, i, true);
		}
		if (is_over(p) || !retain_lower(&c->policy.retain))
			return;
	}
}

/* May the slot be evicted for a pin (@pins), or for a job?  A job may not evict unread blocks. */
static bool may_go(const struct nc_slot *slot, bool pins)
{
	return is_evictable(slot) && (pins || !(READ_ONCE(slot->tag.ahead) & NC_AHEAD_UNREAD));
}

/* Evict victims, and of every SAMPLE other slots the least recently used, for pins or for jobs. */
static void take_oldest(struct pass *p, bool pins)
{
	struct nc_cache *c = p->c;
	u32 sampled = 0, oldest = NC_NIL, oldest_age = 0;
	u64 looked;

	for (looked = 0; looked < 2ULL * c->index.count && !is_over(p); looked++) {
		u32 now = READ_ONCE(c->hot.now), i = next_slot(p), age;
		const struct nc_slot *slot = &c->index.slots[i];

		if (!may_go(slot, pins))
			continue;
		if (is_victim(c, slot, now)) {
			take_victim(p, i, false);
			continue;
		}
		age = slot_age(slot, now);
		if (oldest == NC_NIL || age > oldest_age) {
			oldest = i;
			oldest_age = age;
		}
		if (++sampled < SAMPLE && looked < c->index.count)
			continue;
		take_victim(p, oldest, true);
		sampled = 0;
		oldest = NC_NIL;
	}
}

/* Evict idle blocks, or with a plan those of farthest next use; then for retention, pins, jobs. */
void nc_reclaim_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, reclaim.work);
	struct pass p = { .c = c };
	u32 started, due, used;

	/* The work may have been queued just before a system sleep or a suspend stopped reclaim. */
	if (READ_ONCE(c->life.asleep) || !READ_ONCE(c->reclaim.enabled))
		return;
	if (c->reclaim.aside && READ_ONCE(c->hot.state) == NEARCACHE_NORMAL)
		free_held(c, false);
	nc_plan_work(c);
	/* After nc_plan_work(), whose nc_slots_look_again() compares with the clock as well. */
	started = READ_ONCE(c->hot.now);
	p.want = nc_slots_high_mark(c) + nc_slots_reserved(c);
	if (READ_ONCE(c->reclaim.tick) != started + 1) {
		take_idle(&p);
		finish_batch(&p);
		/* Only a pass over all slots proves that nothing is idle or outside the plan. */
		if (!is_over(&p)) {
			if (!p.found)
				WRITE_ONCE(c->reclaim.tick, started + 1);
			if (!p.strays)
				nc_plan_no_strays(c);
		}
	}
	take_farthest(&p);
	finish_batch(&p);
	if (READ_ONCE(c->policy.retain.wanted)) {
		WRITE_ONCE(c->policy.retain.wanted, false);
		p.want = retain_free_slots(nc_index_low_water(&c->index)) + nc_slots_reserved(c);
		if (!nc_plan_any(c) && retain_in_force(&c->policy.retain, &c->policy.keep))
			take_surplus(&p);
		finish_batch(&p);
	}
	p.want = nc_slots_for_pins(c);
	if (!is_over(&p)) {
		take_oldest(&p, true);
		finish_batch(&p);
	}
	due = nc_reserve_due(c);
	used = atomic_read(&c->slots.reserve.used);
	p.want = nc_slots_due(c);
	if (!is_over(&p)) {
		p.found = 0;
		take_oldest(&p, false);
		finish_batch(&p);
		/* Drop the demand, so that reclaim does not loop: the job asks again later. */
		if (!p.found)
			nc_reserve_want(c, 0);
		else
			nc_reserve_gain(c, used, min(due, p.found));
	}
}
