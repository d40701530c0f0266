// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim.  A worker keeps some slots free, so that fills never wait for an eviction.  It
 * unlinks victims in batches; for each batch it waits once for hits and commits the slot
 * table once.
 *
 * Pinned blocks are never evicted.  Reclaim keeps additional slots free for pinned blocks that
 * have none, and other blocks do not get these.  If no block is idle, it evicts the least
 * recently used ones for them, and for the prefetch reserve: see prefetched.c.
 */
#include "cache.h"
#include "io/fill.h"
#include "meta/meta.h"
#include "ranges/lookup.h"
#include "evict/reclaim.h"
#include "core/tracepoints.h"

/* Low water mark: number of free slots below which the worker starts. */
static u32 low_water(const struct nc_cache *c)
{
	return clamp(c->index.count / 64, 1U, 4096U);
}

/* High water mark.  At least 32 if possible: each round waits for hits and a commit, and with
 * fewer slots a small cache would fall behind the readers.
 */
static u32 high_water(const struct nc_cache *c)
{
	return max(2 * low_water(c), min(32U, c->index.count / 8));
}

/* The low water mark; less while a plan is in force. */
static u32 low(const struct nc_cache *c)
{
	if (likely(!nc_foresight_any(c)))
		return low_water(c);
	/* A tiny cache must keep most of its blocks. */
	return min(nc_plan_low(low_water(c)), max(c->index.count / 6, 1U));
}

static u32 enough(const struct nc_cache *c)
{
	if (likely(!nc_foresight_any(c)))
		return high_water(c);
	return min(nc_plan_enough(low_water(c)), max(c->index.count / 4, 2U));
}

static bool is_pinned(u32 tagged)
{
	struct nc_slot slot = { .tagged = tagged };

	return slot.tag.wants & NEARCACHE_RANGE_PIN;
}

/* Number of free slots that only pinned blocks may take. */
static u32 kept_for_pins(const struct nc_cache *c)
{
	return min_t(u64, nc_ranges_owed(c), 2 * low_water(c));
}

/* Number of free slots for which blocks are evicted that are not idle. */
static u32 due(const struct nc_cache *c)
{
	return kept_for_pins(c) + nc_transit_due(c);
}

/* Number of free slots that reads and writes do not get. */
static u32 kept(const struct nc_cache *c)
{
	return kept_for_pins(c) + nc_transit_kept(c);
}

/*
 * Maximum number of pinned slots.  The rest, at least 2 percent and twice the low water mark, is
 * for other reads and the prefetch reserve.  Context: any.
 */
u64 nc_reclaim_pinnable(const struct nc_cache *c)
{
	u32 rest = max(2 * low_water(c), c->index.count / 50);

	return c->index.count - min(c->index.count, rest);
}

/*
 * Start the worker if free slots run low.  A pass that found no idle block is not repeated within
 * its tick, because idleness changes only with the clock.  Evictions for pins, jobs, a retention
 * threshold or a plan do not depend on idleness.  Context: any.
 */
void nc_reclaim_check(struct nc_cache *c)
{
	u32 left = READ_ONCE(c->index.free_count);

	if (left >= low(c) + kept(c) || !READ_ONCE(c->reclaim_on))
		return;
	if (READ_ONCE(c->reclaim_tick) == READ_ONCE(c->now) + 1 && left >= due(c) &&
	    !nc_foresight_any(c) && !READ_ONCE(c->spread.wanted))
		return;
	queue_work(c->cache_wq, &c->reclaim);
}

/* More slots may be evictable: repeat a fruitless pass within its tick.  Context: any. */
void nc_reclaim_again(struct nc_cache *c)
{
	u32 now = READ_ONCE(c->now);

	if (READ_ONCE(c->reclaim_tick) == now + 1)
		WRITE_ONCE(c->reclaim_tick, now);
}

/* Can a linked slot be evicted because it holds no valid data?  Context: any; a hint. */
bool nc_reclaim_may_empty(const struct nc_slot *slot)
{
	return !READ_ONCE(slot->valid) && !is_pinned(READ_ONCE(slot->tagged));
}

/*
 * An evictable slot lost its last valid sub-block.  Repeat a fruitless pass within its tick once
 * there are enough such slots; not for each, because a pass may visit all slots.
 * Context: any.
 */
void nc_reclaim_emptied(struct nc_cache *c)
{
	if (atomic_inc_return(&c->reclaim_emptied) < low_water(c))
		return;
	atomic_set(&c->reclaim_emptied, 0);
	nc_reclaim_again(c);
}

/* While the retention threshold decides about a full cache: may @block get a slot?  If it may and
 * slots run low, ask reclaim for more.  @left: slots available to it.
 */
static bool may_stay(struct nc_cache *c, u64 block, u32 left)
{
	u32 made = nc_spread_enough(low_water(c));

	if (left > made || !nc_spread_rules(&c->spread, &c->policy))
		return left;
	if (!nc_spread_keeps(&c->spread, block))
		return false;
	if (left <= made / 2 && !READ_ONCE(c->spread.wanted))
		WRITE_ONCE(c->spread.wanted, true);
	return left;
}

/**
 * nc_reclaim_room() - test whether a block without a slot would get one
 * @c: live cache
 * @block: origin block
 * @ahead: for a prefetch
 *
 * Context: any; a hint.
 */
bool nc_reclaim_room(struct nc_cache *c, u64 block, bool ahead)
{
	u32 left = READ_ONCE(c->index.free_count), others = ahead ? kept_for_pins(c) : kept(c);

	if (left && nc_foresight_any(c) && !ahead && !nc_ranges_pinned(c, block))
		return nc_foresight_admits(c, block, left - min(left, others), low_water(c));
	if (ahead ? left > others : may_stay(c, block, left - min(left, others)))
		return true;
	return left && nc_ranges_pinned(c, block);
}

/**
 * nc_reclaim_take() - give a free slot to a block
 * @c: live cache
 * @block: origin block without a slot
 * @ahead: for a prefetch
 *
 * Context: the block's bucket lock is held.
 * Return: a linked slot without valid data, or NC_NIL if none is free.
 */
u32 nc_reclaim_take(struct nc_cache *c, u64 block, bool ahead)
{
	u32 left = READ_ONCE(c->index.free_count), tagged, i = NC_NIL;
	bool others = left > kept(c);

	/* Until the slot is linked and tagged: see struct nc_ranges. */
	rcu_read_lock();
	tagged = nc_ranges_any(c) ? nc_ranges_tag(c, block) : 0;
	if (is_pinned(tagged) || others || (ahead && left > kept_for_pins(c)))
		i = nc_index_pop(&c->index);
	if (i != NC_NIL) {
		c->index.generation[i] = nc_meta_generation(c->meta);
		nc_index_link(&c->index, i, block);
		if (tagged)
			nc_ranges_retag(c, &c->index.slots[i], tagged);
		if (ahead)
			nc_ahead_begin(c, &c->index.slots[i], !others && !is_pinned(tagged));
		if (nc_foresight_any(c))
			nc_foresight_took(c, block);
		atomic64_inc(&c->used);
	}
	rcu_read_unlock();
	return i;
}

/*
 * Are there more free slots than reclaim ever makes?  Only then may writes take new slots, so
 * that they cause no evictions.  Context: any.
 */
bool nc_reclaim_spare(const struct nc_cache *c)
{
	return READ_ONCE(c->index.free_count) > high_water(c) + kept(c);
}

/* Ticks since the last use.  A high priority reduces them, but not those beyond half of the range:
 * otherwise no age could reach a large learnt limit.
 */
static u32 age_of(const struct nc_slot *slot, u32 now)
{
	u32 age = (now - READ_ONCE(slot->stamp)) & NC_STAMP_TICK;

	/* The stamp is ahead of the clock. */
	if (age >= NC_STAMP_FAR)
		return 0;
	if (age >= NC_STAMP_FAR / 2)
		return age;
	return age >> (READ_ONCE(slot->tag.wants) >> NC_WANTS_PRIORITY_SHIFT);
}

/* Block of a slot that another thread may just be linking: a hint. */
static u64 block_of(const struct nc_slot *slot)
{
	return (u64)READ_ONCE(slot->block_hi) << 32 | READ_ONCE(slot->block_lo);
}

static bool is_idle(struct nc_cache *c, const struct nc_slot *slot, u32 now)
{
	u16 stamp = READ_ONCE(slot->stamp);

	if (nc_foresight_any(c))
		return nc_foresight_is_stray(c, block_of(slot));

	if (unlikely(READ_ONCE(slot->tagged)))
		stamp = (stamp & NC_STAMP_REUSED) | ((now - age_of(slot, now)) & NC_STAMP_TICK);
	return c->policy_ops->idle(&c->policy, stamp, now);
}

/* Age at which unread blocks in transit may be evicted if other jobs wait. */
#define TRANSIT_TICKS	2U

/* Does a range, or a prefetch that is over, allow an early eviction of the block? */
static bool is_unwanted(const struct nc_cache *c, const struct nc_slot *slot, u32 now)
{
	u8 wants = READ_ONCE(slot->tag.wants), ahead = READ_ONCE(slot->tag.ahead);
	u32 ticks = (now - READ_ONCE(slot->stamp)) & NC_STAMP_TICK;

	if (wants & NEARCACHE_RANGE_BYPASS)
		return true;
	if (likely(!(wants | ahead)))
		return false;
	if (nc_ahead_is_over(slot))
		return true;
	if (ahead & NC_AHEAD_UNREAD)
		return ahead & NC_AHEAD_TRANSIT && READ_ONCE(c->transit.pressed) &&
		       ticks >= TRANSIT_TICKS && ticks < NC_STAMP_FAR;
	/* Within a tick readers may still come for the next sub-blocks. */
	return (wants & NEARCACHE_RANGE_EVICT_AFTER_USE || ahead) && ticks;
}

static bool is_evictable(const struct nc_slot *slot)
{
	return READ_ONCE(slot->flags) & NC_SLOT_LINKED && !is_pinned(READ_ONCE(slot->tagged));
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

/* Unlink a slot if it is evictable.  The block is read without a lock, and the slot may just
 * be getting another one: only the look-up under the lock proves that they belong
 * together.  @forced: it need not be idle.
 */
static bool unlink_victim(struct nc_cache *c, u32 i, u32 now, bool forced)
{
	struct nc_slot *slot = &c->index.slots[i];
	u64 block = block_of(slot);
	struct nc_span all = { block, 0, NEARCACHE_SUBBLOCKS_MAX - 1 };
	struct nc_stripe *stripe = nc_index_stripe(&c->index, block);
	bool victim;

	spin_lock(&stripe->lock);
	victim = nc_index_find(&c->index, block) == i &&
		 (forced ? is_evictable(slot) : is_victim(c, slot, now)) &&
		 !nc_fill_busy(stripe, &all);
	if (victim) {
		nc_index_unlink(&c->index, i);
		stripe->drops++;
		/* Under the lock: an invalidation that does not find the block
		 * must be able to rely on the next commit.
		 */
		nc_meta_dirty(c, i);
		if (nc_foresight_any(c))
			nc_foresight_gone(c, block);
	}
	spin_unlock(&stripe->lock);
	if (victim) {
		nc_ahead_gone(c, slot, block);
		trace_nearcache_evict(c->dm_devt,
				      block << c->block_shift, i,
				      READ_ONCE(slot->valid));
	}
	return victim;
}

/* Free a batch of victims, after all hits that may read from them have ended and the cache
 * device no longer maps them to their old blocks.
 */
static void release(struct nc_cache *c, u32 n)
{
	const u32 *batch = c->reclaim_batch;
	u32 i;

	if (!n)
		return;
	nc_holds_wait(&c->holds);
	if (READ_ONCE(c->meta->commit.live) && nc_commit_run(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
	/* In bypass nothing is cached: leave the slots as they are. */
	if (READ_ONCE(c->state) == NEARCACHE_BYPASS)
		return;
	for (i = 0; i < n; i++) {
		struct nc_slot *slot = &c->index.slots[batch[i]];

		if (slot->valid)
			nc_count(c, EVICTIONS);
		atomic64_sub(hweight64(slot->valid), &c->valid_subblocks);
		nc_index_push(&c->index, batch[i]);
	}
	atomic64_sub(n, &c->used);
}

/* Number of slots per sample, of which the least recently used one is evicted for a pin or job. */
#define SAMPLE	16U

/**
 * struct pass - a pass of the worker over the slots
 * @c: live cache
 * @want: sufficient number of free slots
 * @n: victims of the present batch
 * @found: victims of the pass
 */
struct pass {
	struct nc_cache *c;
	u32 want;
	u32 n;
	u32 found;
};

static bool is_over(const struct pass *p)
{
	return READ_ONCE(p->c->index.free_count) + p->n >= p->want ||
	       READ_ONCE(p->c->state) != NEARCACHE_NORMAL;
}

static void finish_batch(struct pass *p)
{
	release(p->c, p->n);
	p->n = 0;
}

static u32 next_slot(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 i = c->reclaim_hand;

	c->reclaim_hand = i + 1 < c->index.count ? i + 1 : 0;
	if (!(i % 4096))
		cond_resched();
	return i;
}

static bool take_victim(struct pass *p, u32 i, bool forced)
{
	struct nc_cache *c = p->c;

	if (!unlink_victim(c, i, READ_ONCE(c->now), forced))
		return false;
	c->reclaim_batch[p->n++] = i;
	p->found++;
	if (p->n == NC_RECLAIM_BATCH)
		finish_batch(p);
	return true;
}

/* With a plan: evict the blocks whose next use is farthest.  A block that is still being filled
 * is evicted later: do not take one that is read sooner in its place, unless slots run short.
 */
static void take_farthest(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 i, end = NC_PLAN_NONE, spare = enough(c) / 2;
	u64 block;
	int hold;

	while (!is_over(p) && nc_foresight_farthest(c, &end, &block)) {
		hold = nc_holds_take(&c->holds);
		i = nc_index_find(&c->index, block);
		nc_holds_give(&c->holds, hold);
		if (i != NC_NIL && !take_victim(p, i, true) && is_evictable(&c->index.slots[i])) {
			nc_foresight_took(c, block);
			nc_store_want(&c->store);
			p->want -= !!spare;
			spare -= !!spare;
		}
		cond_resched();
	}
}

/* Evict idle blocks, in one round over all slots.  Reads the clock for each slot: releasing a batch
 * takes time, and a slot used meanwhile would seem to have a stamp ahead of an old
 * clock.
 */
static void take_idle(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 looked;

	for (looked = 0; looked < c->index.count && !is_over(p); looked++) {
		u32 i = next_slot(p);

		if (is_victim(c, &c->index.slots[i], READ_ONCE(c->now)))
			take_victim(p, i, false);
	}
}

/* Not wanted by a range, not prefetched, not read again, and above the retention threshold? */
static bool is_surplus(struct nc_cache *c, const struct nc_slot *slot)
{
	return is_evictable(slot) && !READ_ONCE(slot->tag.wants) && !READ_ONCE(slot->tag.ahead) &&
	       !(READ_ONCE(slot->stamp) & NC_STAMP_REUSED) &&
	       !nc_spread_keeps(&c->spread, block_of(slot));
}

/* Most rounds, each with a lower retention threshold. */
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
		if (is_over(p) || !nc_spread_narrow(&c->spread))
			return;
	}
}

/* For a pin anything evictable; for a job no unread block of another job. */
static bool may_go(const struct nc_slot *slot, bool pins)
{
	return is_evictable(slot) && (pins || !(READ_ONCE(slot->tag.ahead) & NC_AHEAD_UNREAD));
}

/* Evict victims; without enough of them, the least recently used block of each sample. */
static void take_oldest(struct pass *p, bool pins)
{
	struct nc_cache *c = p->c;
	u32 sampled = 0, oldest = NC_NIL, oldest_age = 0;
	u64 looked;

	for (looked = 0; looked < 2ULL * c->index.count && !is_over(p); looked++) {
		u32 now = READ_ONCE(c->now), i = next_slot(p), age;
		const struct nc_slot *slot = &c->index.slots[i];

		if (!may_go(slot, pins))
			continue;
		if (is_victim(c, slot, now)) {
			take_victim(p, i, false);
			continue;
		}
		age = age_of(slot, now);
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

void nc_reclaim_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, reclaim);
	struct pass p = { .c = c };
	u32 started = READ_ONCE(c->now);

	nc_foresight_work(c);
	p.want = enough(c) + kept(c);
	if (READ_ONCE(c->reclaim_tick) != started + 1) {
		take_idle(&p);
		finish_batch(&p);
		/* Only a pass that looked at all slots proves that nothing is idle. */
		if (!p.found && !is_over(&p)) {
			WRITE_ONCE(c->reclaim_tick, started + 1);
			nc_foresight_no_strays(c);
		}
	}
	take_farthest(&p);
	finish_batch(&p);
	if (READ_ONCE(c->spread.wanted)) {
		WRITE_ONCE(c->spread.wanted, false);
		p.want = nc_spread_enough(low_water(c)) + kept(c);
		if (!nc_foresight_any(c) && nc_spread_rules(&c->spread, &c->policy))
			take_surplus(&p);
		finish_batch(&p);
	}
	p.want = kept_for_pins(c);
	if (!is_over(&p)) {
		take_oldest(&p, true);
		finish_batch(&p);
	}
	p.want = due(c);
	if (!is_over(&p)) {
		p.found = 0;
		take_oldest(&p, false);
		finish_batch(&p);
		/* Do not retry in a loop: the job asks again later. */
		if (!p.found)
			nc_transit_want(c, 0);
	}
}
