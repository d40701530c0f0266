// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim.  A worker keeps some slots free, so that fills never wait for an
 * eviction.  Victims are unlinked in batches, and one SRCU grace period and one
 * commit of the slot table serve a batch.
 */
#include "cache.h"
#include "fill.h"
#include "meta.h"
#include "reclaim.h"
#include "trace.h"

/* Free slots below which the worker starts, and up to which it works. */
static u32 low_water(const struct nc_cache *c)
{
	return clamp(c->index.count / 64, 1U, 4096U);
}

/**
 * nc_reclaim_check() - start the worker when free slots run low
 * @c: live cache
 *
 * A pass that found nothing idle is not repeated within its tick: idleness
 * only changes with the clock.
 *
 * Context: any.
 */
void nc_reclaim_check(struct nc_cache *c)
{
	if (READ_ONCE(c->index.free_count) >= low_water(c))
		return;
	if (READ_ONCE(c->reclaim_tick) == READ_ONCE(c->now) + 1)
		return;
	queue_work(c->cache_wq, &c->reclaim);
}

/**
 * nc_reclaim_emptied() - a slot lost its last valid sub-block
 * @c: live cache
 *
 * When there are enough of them, a pass that found nothing is repeated within its
 * tick; not for each, because a pass may look at all slots.
 *
 * Context: any.
 */
void nc_reclaim_emptied(struct nc_cache *c)
{
	u32 now = READ_ONCE(c->now);

	if (atomic_inc_return(&c->reclaim_emptied) < low_water(c))
		return;
	atomic_set(&c->reclaim_emptied, 0);
	if (READ_ONCE(c->reclaim_tick) == now + 1)
		WRITE_ONCE(c->reclaim_tick, now);
}

/**
 * nc_reclaim_take() - give a free slot to a block
 * @c: live cache
 * @block: origin block that has none
 *
 * Context: the block's stripe lock is held.
 * Return: slot, linked, nothing valid in it; NC_NIL when none is free.
 */
u32 nc_reclaim_take(struct nc_cache *c, u64 block)
{
	u32 i = nc_index_pop(&c->index);

	if (i == NC_NIL)
		return i;
	c->index.slots[i].generation = nc_meta_generation(c->meta);
	nc_index_link(&c->index, i, block);
	atomic64_inc(&c->used);
	return i;
}

/**
 * nc_reclaim_spare() - are there more free slots than reads will want soon?
 * @c: live cache
 *
 * More than reclaim ever frees, so that writes do not live on evictions.
 *
 * Context: any.
 */
bool nc_reclaim_spare(const struct nc_cache *c)
{
	return READ_ONCE(c->index.free_count) > 2 * low_water(c);
}

/* May go: nothing valid in it, written but never read, or idle.  Read without
 * locks, as a hint.
 */
static bool is_victim(const struct nc_cache *c, const struct nc_slot *slot,
		      u32 now)
{
	u16 stamp = READ_ONCE(slot->stamp);
	u8 flags = READ_ONCE(slot->flags);

	if (!(flags & NC_SLOT_LINKED))
		return false;
	return !READ_ONCE(slot->valid) ||
	       (flags & NC_SLOT_WRITTEN && !(stamp & NC_STAMP_REUSED)) ||
	       c->policy_ops->idle(&c->policy, stamp, now);
}

/* The block is read without a lock and may be that of a slot that is just being
 * linked: only the look-up under the lock tells that the slot is this block's.
 */
static bool unlink_victim(struct nc_cache *c, u32 i, u32 now)
{
	struct nc_slot *slot = &c->index.slots[i];
	u64 block = (u64)READ_ONCE(slot->block_hi) << 32 |
		    READ_ONCE(slot->block_lo);
	struct nc_span all = { block, 0, NEARCACHE_SUBBLOCKS_MAX - 1 };
	struct nc_stripe *stripe = nc_index_stripe(&c->index, block);
	bool victim;

	spin_lock(&stripe->lock);
	victim = nc_index_find(&c->index, block) == i &&
		 is_victim(c, slot, now) && !nc_fill_busy(stripe, &all);
	if (victim) {
		nc_index_unlink(&c->index, i);
		stripe->drops++;
		/* Under the lock: who does not find the block any more, because
		 * it is invalidated, can rely on the next commit.
		 */
		nc_meta_dirty(c, i);
	}
	spin_unlock(&stripe->lock);
	if (victim) {
		c->policy_ops->forget(&c->policy, READ_ONCE(slot->stamp));
		trace_nearcache_evict(c->dm_devt,
				      block << c->block_shift, i,
				      READ_ONCE(slot->valid));
	}
	return victim;
}

/* No hit reads from the slots any more, and the medium does not say that they hold
 * what they held: now they are free.
 */
static void release(struct nc_cache *c, u32 n)
{
	const u32 *batch = c->reclaim_batch;
	u32 i;

	if (!n)
		return;
	synchronize_srcu(&c->srcu);
	if (READ_ONCE(c->meta->commit.live) && nc_commit_run(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
	/* They stay as they are: nothing is cached any more. */
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

void nc_reclaim_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, reclaim);
	u32 want = 2 * low_water(c);
	u32 started = READ_ONCE(c->now);
	u32 now = started;
	u32 looked, n = 0, found = 0;

	for (looked = 0; looked < c->index.count; looked++) {
		u32 i = c->reclaim_hand;

		if (READ_ONCE(c->index.free_count) + n >= want ||
		    READ_ONCE(c->state) != NEARCACHE_NORMAL)
			break;
		c->reclaim_hand = i + 1 < c->index.count ? i + 1 : 0;
		if (is_victim(c, &c->index.slots[i], now) &&
		    unlink_victim(c, i, now)) {
			c->reclaim_batch[n++] = i;
			found++;
		}
		if (n == NC_RECLAIM_BATCH) {
			release(c, n);
			n = 0;
		}
		/* Waiting for hits took time: what was used since is younger
		 * than the old clock can tell.
		 */
		now = READ_ONCE(c->now);
		if (!(looked % 4096))
			cond_resched();
	}
	release(c, n);
	if (!found)
		WRITE_ONCE(c->reclaim_tick, started + 1);
}
