// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool of slots: how many slots reclaim keeps free, and which blocks may take a free slot.
 *
 * Some free slots are reserved for pinned blocks that have no slot yet, others for prefetch jobs;
 * other blocks cannot take these.  nc_slots_check() starts the reclaim worker, which frees slots.
 */
#include "cache.h"
#include "evict/free_slots.h"
#include "meta/meta.h"
#include "ranges/lookup.h"

/* Low water mark: number of free slots below which the reclaim worker starts. */
static u32 low_water(const struct nc_cache *c)
{
	return nc_index_low_water(&c->index);
}

/* Number of free slots at which the worker stops: at least 32 (in a small cache an eighth), because
 * readers use up free slots while the worker waits for hits and a commit in each batch.
 */
static u32 high_water(const struct nc_cache *c)
{
	return max(2 * low_water(c), min(32U, c->index.count / 8));
}

/* Most bytes of free slots while there is a plan, unless PLAN_FREE slots have more.  Reclaim frees
 * slots in a round, which takes less than 5 ms.  In this time 4 GB/s fill 20 MB.
 */
#define PLAN_FREE_BYTES	(32U << 20)
#define PLAN_FREE	128U

/* low_water() for the marks of a plan: each free slot costs a block that will be read again. */
static u32 plan_low_water(const struct nc_cache *c)
{
	return min(low_water(c), max(PLAN_FREE, PLAN_FREE_BYTES / c->geo.block_size));
}

/* low_water(), but lower while there is a plan. */
static u32 low_mark(const struct nc_cache *c)
{
	if (likely(!nc_plan_any(c)))
		return low_water(c);
	/* In a tiny cache the marks of a plan would evict most blocks. */
	return min(nc_belady_low(plan_low_water(c)), max(c->index.count / 6, 1U));
}

/* Number of free slots at which the worker stops: high_water(), but lower while there is a plan. */
u32 nc_slots_high_mark(const struct nc_cache *c)
{
	if (likely(!nc_plan_any(c)))
		return high_water(c);
	return min(nc_belady_enough(plan_low_water(c)), max(c->index.count / 4, 2U));
}

/* Number of free slots that are reserved for pinned blocks that have no slot yet. */
u32 nc_slots_for_pins(const struct nc_cache *c)
{
	return min_t(u64, nc_ranges_owed(c), 2 * low_water(c));
}

/* Number of free slots below which the worker also evicts blocks that are not idle. */
u32 nc_slots_due(const struct nc_cache *c)
{
	return nc_slots_for_pins(c) + nc_reserve_due(c);
}

/* Number of free slots that neither reads nor writes may take. */
u32 nc_slots_reserved(const struct nc_cache *c)
{
	return nc_slots_for_pins(c) + nc_reserve_kept(c);
}

/* Start the reclaim worker when free slots run low.  A pass that found nothing idle is not repeated
 * within its tick, because blocks become idle only when the clock advances.  It is repeated for
 * pins, jobs, retained blocks and plans, which may evict blocks that are not idle, and for slots
 * that were set aside.  Context: any.
 */
void nc_slots_check(struct nc_cache *c)
{
	u32 left = READ_ONCE(c->index.free.count);

	if (left >= low_mark(c) + nc_slots_reserved(c) || !READ_ONCE(c->reclaim.enabled))
		return;
	if (READ_ONCE(c->reclaim.tick) == READ_ONCE(c->hot.now) + 1 && left >= nc_slots_due(c) &&
	    !nc_plan_any(c) && !READ_ONCE(c->policy.retain.wanted) && !READ_ONCE(c->reclaim.aside))
		return;
	queue_work(c->workers.cache, &c->reclaim.work);
}

/* Let reclaim make another pass in this tick although an earlier pass found nothing idle: the
 * caller made blocks evictable.  Context: any.
 */
void nc_slots_look_again(struct nc_cache *c)
{
	u32 now = READ_ONCE(c->hot.now);

	if (READ_ONCE(c->reclaim.tick) == now + 1)
		WRITE_ONCE(c->reclaim.tick, now);
}

/* Count a slot for which nc_slot_is_empty() became true.  After low_water() such slots reclaim may
 * make another pass in this tick.  Not earlier: a pass may visit all slots.  Context: any.
 */
void nc_slots_emptied(struct nc_cache *c)
{
	if (atomic_inc_return(&c->reclaim.emptied) < low_water(c))
		return;
	atomic_set(&c->reclaim.emptied, 0);
	nc_slots_look_again(c);
	nc_reserve_wake(c);
}

/* Does retention let @block take one of @left free slots?  If retain_keeps() selects @block but few
 * slots are free, asks reclaim for more.
 */
static bool retain_admits(struct nc_cache *c, u64 block, u32 left)
{
	u32 made = retain_free_slots(low_water(c));

	if (left > made || !retain_in_force(&c->policy.retain, &c->policy.keep))
		return left;
	if (!retain_keeps(&c->policy.retain, block))
		return false;
	if (left <= made / 2 && !READ_ONCE(c->policy.retain.wanted))
		WRITE_ONCE(c->policy.retain.wanted, true);
	return left;
}

/* May a prefetch job take one of @left free slots, for a block that is not pinned? */
static bool job_admits(const struct nc_cache *c, u32 left)
{
	return left > nc_slots_reserved(c) || (left > nc_slots_for_pins(c) && nc_reserve_room(c));
}

/**
 * nc_slots_room() - would a block without a slot get one?
 * @c: live cache
 * @block: origin block
 * @user: what the slot is for
 *
 * Context: any; a hint.
 */
bool nc_slots_room(struct nc_cache *c, u64 block, enum nc_slot_user user)
{
	u32 left = READ_ONCE(c->index.free.count);
	u32 rest = left - min(left, nc_slots_reserved(c));

	if (left && nc_plan_any(c) && user == NC_SLOT_READER && !nc_ranges_pinned(c, block))
		return nc_plan_admits(c, block, rest, plan_low_water(c));
	/* nc_belady_ahead() has selected the block of a stream, so do not ask the plan again. */
	if (user == NC_SLOT_STREAM ? rest :
	    user == NC_SLOT_JOB ? job_admits(c, left) : retain_admits(c, block, rest))
		return true;
	return left && nc_ranges_pinned(c, block);
}

/**
 * nc_slots_take() - give a free slot to a block
 * @c: live cache
 * @block: origin block without a slot
 * @user: what the slot is for
 *
 * Context: the block's bucket lock is held.
 * Return: linked slot without valid data; NC_NIL if the block gets none.
 */
u32 nc_slots_take(struct nc_cache *c, u64 block, enum nc_slot_user user)
{
	u32 left = READ_ONCE(c->index.free.count), tagged, i = NC_NIL;
	bool job = user == NC_SLOT_JOB, others = left > nc_slots_reserved(c);

	/* RCU until the slot is linked and tagged: see struct nc_ranges. */
	rcu_read_lock();
	tagged = nc_ranges_any(c) ? nc_ranges_tag(c, block) : 0;
	if (nc_tag_is_pinned(tagged) || others || (job && job_admits(c, left)))
		i = nc_index_pop(&c->index);
	if (i != NC_NIL) {
		c->index.generation[i] = nc_meta_generation(c->meta);
		nc_index_link(&c->index, i, block);
		if (tagged)
			nc_ranges_retag(c, &c->index.slots[i], tagged);
		if (job)
			nc_prefetched_begin(c, &c->index.slots[i],
					    !others && !nc_tag_is_pinned(tagged));
		if (nc_plan_any(c))
			nc_plan_took(c, block, true, nc_tag_is_pinned(tagged));
		atomic64_inc(&c->slots.used);
	}
	rcu_read_unlock();
	if (i != NC_NIL && !job)
		nc_reserve_wake(c);
	return i;
}

/* Report to the plan that a fill is about to bring data into slot @i if this slot is empty: see
 * nc_plan_gone().  Context: the bucket lock @bucket of the slot's block is held.
 */
void nc_slots_refill(struct nc_cache *c, const struct nc_bucket_lock *bucket, u32 i)
{
	const struct nc_slot *slot = &c->index.slots[i];
	u64 block = nc_slot_block(slot);

	if (!slot->valid && nc_plan_any(c) && !nc_bucket_is_filling(bucket, block))
		nc_plan_took(c, block, true, nc_tag_is_pinned(slot->tagged));
}

/* May a write take a free slot?  Only while there are more free slots than the number at which
 * reclaim stops: so a write causes no eviction.  Context: any; a hint.
 */
bool nc_slots_spare(const struct nc_cache *c)
{
	return READ_ONCE(c->index.free.count) > high_water(c) + nc_slots_reserved(c);
}

/* Report a read of a sampled block, unless the policy's lock is taken.  @cached: it has a slot. */
void nc_slots_sample(struct nc_cache *c, u64 block, bool cached)
{
	if (!spin_trylock(&c->policy.lock))
		return;
	c->hot.policy_ops->read(&c->policy.keep, block, READ_ONCE(c->hot.now), cached);
	spin_unlock(&c->policy.lock);
}

/* Record a hit that uses a slot for the first time in this tick.  Context: a hit section. */
void nc_slots_stamp(struct nc_cache *c, struct nc_slot *slot)
{
	u64 block = nc_slot_block(slot);
	u32 now = READ_ONCE(c->hot.now);

	WRITE_ONCE(slot->stamp, (now & NC_STAMP_TICK) | NC_STAMP_REUSED);
	/* The first hit after the clock has advanced: other blocks may be idle now. */
	if (READ_ONCE(c->slots.reserve.tick) != now) {
		WRITE_ONCE(c->slots.reserve.tick, now);
		nc_reserve_wake(c);
	}
	if (nc_ghost_samples(&c->policy.keep.ghost, block))
		nc_slots_sample(c, block, true);
}
