// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim.  A worker keeps some slots free, so that fills never wait for an
 * eviction.  Victims are unlinked in batches, and hits are waited for and the slot
 * table is committed once for a batch.
 *
 * Pinned blocks never go.  For those that have no slot yet some more slots are kept
 * free, and what is not pinned does not get them; if nothing is idle, what was used
 * longest ago goes for them.  So it is for what prefetch jobs want: see prefetched.c.
 */
#include "cache.h"
#include "meta/meta.h"
#include "ranges/lookup.h"
#include "evict/reclaim.h"
#include "evict/slots.h"
#include "core/tracepoints.h"

/* Ticks since the last use; a high priority makes the clock go slower, but not stand: a limit
 * that is learnt may be more than all that the clock could come to.
 */
static u32 age_of(const struct nc_slot *slot, u32 now)
{
	u32 age = (now - READ_ONCE(slot->stamp)) & NC_STAMP_TICK;

	/* A stamp that is ahead. */
	if (age >= NC_STAMP_FAR)
		return 0;
	if (age >= NC_STAMP_FAR / 2)
		return age;
	return age >> (READ_ONCE(slot->tag.wants) >> NC_WANTS_PRIORITY_SHIFT);
}

/* The block of a slot, which may just be linked. */
static u64 block_of(const struct nc_slot *slot)
{
	return (u64)READ_ONCE(slot->block_hi) << 32 | READ_ONCE(slot->block_lo);
}

static bool is_idle(struct nc_cache *c, const struct nc_slot *slot, u32 now)
{
	u16 stamp = READ_ONCE(slot->stamp);

	if (nc_plan_any(c))
		return nc_plan_is_stray(c, block_of(slot));

	if (unlikely(READ_ONCE(slot->tagged)))
		stamp = (stamp & NC_STAMP_REUSED) | ((now - age_of(slot, now)) & NC_STAMP_TICK);
	return c->hot.policy_ops->idle(&c->policy.keep, stamp, now);
}

/* Ticks after which nobody is expected to read what is in the reserve still, if others wait. */
#define TRANSIT_TICKS	2U

/* Somebody said that it is not worth its place. */
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
		return ahead & NC_AHEAD_RESERVE && READ_ONCE(c->slots.reserve.pressed) &&
		       ticks >= TRANSIT_TICKS && ticks < NC_STAMP_FAR;
	/* Readers of its next sub-blocks may just be coming. */
	return (wants & NEARCACHE_RANGE_EVICT_AFTER_USE || ahead) && ticks;
}

static bool is_evictable(const struct nc_slot *slot)
{
	return READ_ONCE(slot->flags) & NC_SLOT_LINKED &&
	       !nc_tag_is_pinned(READ_ONCE(slot->tagged));
}

/* May go: nothing valid in it, not wanted, written but never read, or idle.  Read
 * without locks, as a hint.
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

static bool is_being_filled(const struct nc_bucket_lock *bucket, u64 block)
{
	const struct nc_fill_entry *entry;

	lockdep_assert_held(&bucket->lock);
	list_for_each_entry(entry, &bucket->fills, list)
		if (entry->span.block == block)
			return true;
	return false;
}

/* The block is read without a lock and may be that of a slot that is just being
 * linked: only the look-up under the lock tells that the slot is this block's.
 * @forced: it need not be idle.
 */
static bool unlink_victim(struct nc_cache *c, u32 i, u32 now, bool forced)
{
	struct nc_slot *slot = &c->index.slots[i];
	u64 block = block_of(slot);
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);
	bool victim;

	spin_lock(&bucket->lock);
	victim = nc_index_find(&c->index, block) == i &&
		 (forced ? is_evictable(slot) : is_victim(c, slot, now)) &&
		 !is_being_filled(bucket, block);
	if (victim) {
		nc_index_unlink(&c->index, i);
		bucket->drops++;
		/* Under the lock: who does not find the block any more, because
		 * it is invalidated, can rely on the next commit.
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

/* No hit reads from the slots any more, and the medium does not say that they hold
 * what they held: now they are free.
 */
static void release(struct nc_cache *c, u32 n)
{
	const u32 *batch = c->reclaim.batch;
	u32 i;

	if (!n)
		return;
	nc_hit_synchronize(&c->hot.hit_srcu);
	if (READ_ONCE(c->meta->commit.live) && nc_commit_run(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
	/* They stay as they are: nothing is cached any more. */
	if (READ_ONCE(c->hot.state) == NEARCACHE_BYPASS)
		return;
	for (i = 0; i < n; i++) {
		struct nc_slot *slot = &c->index.slots[batch[i]];

		if (slot->valid)
			nc_count(c, EVICTIONS);
		atomic64_sub(hweight64(slot->valid), &c->slots.valid_subblocks);
		nc_index_push(&c->index, batch[i]);
	}
	atomic64_sub(n, &c->slots.used);
}

/* Slots of which the one that was used longest ago goes for a pin, or a job. */
#define SAMPLE	16U

/**
 * struct pass - the worker's way through the slots
 * @c: live cache
 * @want: free slots that are enough
 * @n: victims, until hits are over
 * @found: victims in all
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
	       READ_ONCE(p->c->hot.state) != NEARCACHE_NORMAL;
}

static void finish_batch(struct pass *p)
{
	release(p->c, p->n);
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

	if (!unlink_victim(c, i, READ_ONCE(c->hot.now), forced))
		return false;
	c->reclaim.batch[p->n++] = i;
	p->found++;
	if (p->n == NC_RECLAIM_BATCH)
		finish_batch(p);
	return true;
}

/* With a plan: what is read again last.  What is still being filled goes when it has come: in its
 * place nothing does that is read before it, unless slots run short.
 */
static void take_farthest(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 i, end = NC_BELADY_NONE, spare = nc_slots_high_mark(c) / 2;
	u64 block;
	int hold;

	while (!is_over(p) && nc_plan_farthest(c, &end, &block)) {
		hold = nc_hit_lock(&c->hot.hit_srcu);
		i = nc_index_find(&c->index, block);
		nc_hit_unlock(&c->hot.hit_srcu, hold);
		if (i != NC_NIL && !take_victim(p, i, true) && is_evictable(&c->index.slots[i])) {
			nc_plan_took(c, block);
			WRITE_ONCE(c->reclaim.awaits_fills, true);
			p->want -= !!spare;
			spare -= !!spare;
		}
		cond_resched();
	}
}

/* One round: what is idle, as often as the policy finds it so.  The clock is read anew for
 * each: waiting for hits takes time, and what was used since is younger than an old clock
 * can tell.
 */
static void take_idle(struct pass *p)
{
	struct nc_cache *c = p->c;
	u32 looked;

	for (looked = 0; looked < c->index.count && !is_over(p); looked++) {
		u32 i = next_slot(p);

		if (is_victim(c, &c->index.slots[i], READ_ONCE(c->hot.now)))
			take_victim(p, i, false);
	}
}

/* Nobody said that he wants it, nor came to read it again, and it is none of those that stay. */
static bool is_surplus(struct nc_cache *c, const struct nc_slot *slot)
{
	return is_evictable(slot) && !READ_ONCE(slot->tag.wants) && !READ_ONCE(slot->tag.ahead) &&
	       !(READ_ONCE(slot->stamp) & NC_STAMP_REUSED) &&
	       !retain_keeps(&c->policy.retain, block_of(slot));
}

/* Rounds in which less and less stays. */
#define NARROWED	4U

/* For what is to stay: what is not.  If that is not enough, less is to. */
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

/* For a pin; for a job, what another job brought is not to go before somebody read it. */
static bool may_go(const struct nc_slot *slot, bool pins)
{
	return is_evictable(slot) && (pins || !(READ_ONCE(slot->tag.ahead) & NC_AHEAD_UNREAD));
}

/* Of each few the one that was used longest ago, if none may go by itself. */
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
	struct nc_cache *c = container_of(work, struct nc_cache, reclaim.work);
	struct pass p = { .c = c };
	u32 started = READ_ONCE(c->hot.now);

	nc_plan_work(c);
	p.want = nc_slots_high_mark(c) + nc_slots_reserved(c);
	if (READ_ONCE(c->reclaim.tick) != started + 1) {
		take_idle(&p);
		finish_batch(&p);
		/* Not of a pass that was over before it looked at all of them. */
		if (!p.found && !is_over(&p)) {
			WRITE_ONCE(c->reclaim.tick, started + 1);
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
	p.want = nc_slots_due(c);
	if (!is_over(&p)) {
		p.found = 0;
		take_oldest(&p, false);
		finish_batch(&p);
		/* Not over and over: the job asks again, later. */
		if (!p.found)
			nc_reserve_want(c, 0);
	}
}
