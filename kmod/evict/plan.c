// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plan that a cache follows.  User space hands over the future order in several requests;
 * the plan is in force from the last one on, until all of it was read, nearly all reads are
 * outside of it, it is cleared, or another plan replaces it.  After that the policy decides
 * again; it has updated its stamps meanwhile.
 *
 * Readers take the plan's spin lock for one look-up and a few bit operations; the reclaim worker
 * does all longer work.  Callers report each slot that a block gets or loses under the block's
 * bucket lock, so plan and index agree.  Reports of reads may arrive late; reclaim detects a
 * wrong answer of the plan when it tries to evict the block.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "cache.h"
#include "io/fill.h"
#include "evict/plan.h"
#include "evict/reclaim.h"

void nc_foresight_init(struct nc_cache *c)
{
	mutex_init(&c->foresight.lock);
}

static void put(struct nc_foreseen *seen)
{
	if (!refcount_dec_and_test(&seen->refs))
		return;
	nc_plan_destroy(&seen->plan);
	kfree(seen);
}

/* Return the plan in force, locked; NULL without a plan, or while the worker owns it.  The sparse
 * annotations balance: sparse sees nothing held until give_back().
 */
static struct nc_foreseen *take(struct nc_cache *c)
{
	struct nc_foreseen *seen;

	rcu_read_lock();
	seen = rcu_dereference(c->foresight.now);
	__release(RCU);
	if (!seen)
		return NULL;
	spin_lock(&seen->lock);
	__release(&seen->lock);
	if (!seen->paused)
		return seen;
	__acquire(&seen->lock);
	spin_unlock(&seen->lock);
	return NULL;
}

static void give_back(struct nc_foreseen *seen)
{
	if (seen) {
		__acquire(&seen->lock);
		spin_unlock(&seen->lock);
	}
	__acquire(RCU);
	rcu_read_unlock();
}

/* Take nc_foresight.lock.  May sleep for as long as another caller builds a plan. */
void nc_foresight_lock(struct nc_cache *c)
{
	mutex_lock(&c->foresight.lock);
}

/* Drop nc_foresight.lock, and retry an end() that found it taken. */
void nc_foresight_unlock(struct nc_cache *c)
{
	mutex_unlock(&c->foresight.lock);
	/* Pairs with the barrier in end(). */
	smp_mb();
	if (READ_ONCE(c->foresight.late))
		nc_foresight_kick(c);
}

static struct nc_foreseen *current_of(struct nc_foresight *f)
{
	return rcu_dereference_protected(f->now, lockdep_is_held(&f->lock));
}

static void set_checks(struct nc_cache *c)
{
	lockdep_assert_held(&c->foresight.lock);
	WRITE_ONCE(c->checks, c->foresight.checked || nc_foresight_any(c));
}

/* Record whether hits are checked for reasons other than a plan.  Context: nc_cache.life. */
void nc_foresight_checks(struct nc_cache *c, bool checked)
{
	nc_foresight_lock(c);
	c->foresight.checked = checked;
	set_checks(c);
	nc_foresight_unlock(c);
}

/* Put @seen, or no plan, in force.  @state: final state of the old plan if @seen is NULL. */
static void replace(struct nc_cache *c, struct nc_foreseen *seen, enum nearcache_plan_state state)
{
	struct nc_foresight *f = &c->foresight;
	struct nc_foreseen *old = current_of(f);

	lockdep_assert_held(&f->lock);
	WRITE_ONCE(f->strays, seen);
	rcu_assign_pointer(f->now, seen);
	set_checks(c);
	f->state = seen ? NEARCACHE_PLAN_RUNNING : state;
	if (!old)
		return;
	synchronize_rcu();
	f->last = old->plan.figures;
	f->last.memory = 0;
	put(old);
}

static void drop_coming(struct nc_foresight *f)
{
	if (!f->coming)
		return;
	nc_plan_destroy(f->coming);
	kfree(f->coming);
	f->coming = NULL;
}

/**
 * nc_foresight_begin() - prepare for the next ranges of a plan
 * @c: live cache
 * @at: number of ranges handed over so far; 0: begin a new plan and drop an unfinished one
 *
 * Context: nc_foresight.lock, as for the functions below; may sleep.
 * Return: 0, -ENOMEM, or -ESTALE if @at does not match.
 */
int nc_foresight_begin(struct nc_cache *c, u64 at)
{
	struct nc_foresight *f = &c->foresight;

	lockdep_assert_held(&f->lock);
	if (at)
		return f->coming && f->coming->figures.ranges == at ? 0 : -ESTALE;
	drop_coming(f);
	f->coming = kzalloc(sizeof(*f->coming), GFP_KERNEL);
	if (!f->coming)
		return -ENOMEM;
	f->coming->subs = c->geo.block_size / c->geo.subblock_size;
	return 0;
}

/**
 * nc_foresight_append() - append a range to the plan
 * @c: live cache
 * @first: first sector
 * @end: sector behind the last one
 *
 * Return: 0, -ENOMEM, or -E2BIG: the plan is too long.
 */
int nc_foresight_append(struct nc_cache *c, u64 first, u64 end)
{
	struct nc_plan *plan = c->foresight.coming;
	int r = nc_plan_append(plan, first >> c->sub_shift, (end - 1) >> c->sub_shift);

	lockdep_assert_held(&c->foresight.lock);
	if (!r)
		plan->figures.ranges++;
	return r;
}

/* Drop a plan whose hand-over is unfinished. */
void nc_foresight_drop(struct nc_cache *c)
{
	lockdep_assert_held(&c->foresight.lock);
	drop_coming(&c->foresight);
}

/**
 * nc_foresight_commit() - put the completely handed-over plan in force
 * @c: live cache; the plan has at least one visit
 *
 * Return: 0 or -ENOMEM: the old plan stays in force, and the new one is dropped.
 */
int nc_foresight_commit(struct nc_cache *c)
{
	struct nc_foresight *f = &c->foresight;
	struct nc_foreseen *seen = kzalloc(sizeof(*seen), GFP_KERNEL);

	lockdep_assert_held(&f->lock);
	if (!seen || nc_plan_build(f->coming, get_random_u64(), c->index.count)) {
		kfree(seen);
		drop_coming(f);
		return -ENOMEM;
	}
	spin_lock_init(&seen->lock);
	refcount_set(&seen->refs, 1);
	seen->plan = *f->coming;
	seen->unscanned = true;
	kfree(f->coming);
	f->coming = NULL;
	replace(c, seen, 0);
	nc_reclaim_again(c);
	nc_foresight_kick(c);
	return 0;
}

/* End the plan in force and drop an unfinished one.  Returns whether one was in force. */
bool nc_foresight_clear(struct nc_cache *c)
{
	bool any;

	nc_foresight_lock(c);
	any = nc_foresight_any(c);
	if (any)
		replace(c, NULL, NEARCACHE_PLAN_CLEARED);
	drop_coming(&c->foresight);
	nc_foresight_unlock(c);
	return any;
}

/* Copy the statistics of the plan in force, or else of the last one, to @figures. */
void nc_foresight_figures(struct nc_cache *c, struct nc_plan_figures *figures)
{
	struct nc_foresight *f = &c->foresight;
	struct nc_foreseen *seen = current_of(f);

	lockdep_assert_held(&f->lock);
	*figures = f->last;
	if (!seen)
		return;
	spin_lock(&seen->lock);
	*figures = seen->plan.figures;
	spin_unlock(&seen->lock);
}

/* Does the plan need the worker? */
static bool wants_work(const struct nc_plan *plan)
{
	return plan->lost || nc_plan_over(plan) || nc_plan_astray(plan);
}

/**
 * nc_foresight_read() - report a read to the plan
 * @c: live cache
 * @span: sub-blocks of the read
 * @first: first sector
 * @end: sector behind the last one; only the part in @span counts
 * @hit: it is a hit, and the caller is in its hit section
 *
 * Context: process.
 */
void nc_foresight_read(struct nc_cache *c, const struct nc_span *span, sector_t first,
		       sector_t end, bool hit)
{
	sector_t span_end = (span->block << c->block_shift) +
			    ((sector_t)(span->last + 1) << c->sub_shift);
	struct nc_plan_piece piece = {
		.block = span->block,
		.first = span->first,
		.last = span->last,
		.whole = end >= min_t(sector_t, span_end, c->geo.origin_size >> SECTOR_SHIFT),
		.hit = hit,
		.cached = hit,
	};
	struct nc_foreseen *seen;
	bool work = false;
	int hold;

	if (!hit) {
		hold = nc_holds_take(&c->holds);
		piece.cached = nc_index_find(&c->index, span->block) != NC_NIL;
		nc_holds_give(&c->holds, hold);
	}
	seen = take(c);
	if (seen) {
		nc_plan_read(&seen->plan, &piece);
		work = wants_work(&seen->plan) && !seen->asked;
		seen->asked |= work;
	}
	give_back(seen);
	if (work)
		nc_foresight_kick(c);
}

/**
 * nc_foresight_admits() - decide whether to cache a missing block that is being read
 * @c: live cache
 * @block: origin block
 * @left: free slots available to it
 * @low: low water mark without a plan
 *
 * Context: process; bucket locks may be held, as for the functions below.
 */
bool nc_foresight_admits(struct nc_cache *c, u64 block, u32 left, u32 low)
{
	struct nc_foreseen *seen = take(c);
	bool admits = seen ? nc_plan_admits(&seen->plan, block, left, low) : left;

	give_back(seen);
	return admits;
}

/* A block got a slot, and its bucket lock is held; or the block turns out to have one still. */
void nc_foresight_took(struct nc_cache *c, u64 block)
{
	struct nc_foreseen *seen = take(c);
	bool stray = seen && !nc_plan_took(&seen->plan, block);

	give_back(seen);
	if (stray)
		nc_foresight_stray(c);
}

/* A block lost its slot; its bucket lock is held. */
void nc_foresight_gone(struct nc_cache *c, u64 block)
{
	struct nc_foreseen *seen = take(c);

	if (seen)
		nc_plan_gone(&seen->plan, block);
	give_back(seen);
}

/* Is a cached block unknown to the plan, so that reclaim may evict it first? */
bool nc_foresight_is_stray(struct nc_cache *c, u64 block)
{
	struct nc_foreseen *seen;
	bool stray;

	if (!READ_ONCE(c->foresight.strays))
		return false;
	seen = take(c);
	stray = seen && !READ_ONCE(seen->unscanned) && !nc_plan_holds(&seen->plan, block);
	give_back(seen);
	return stray;
}

/* A block outside the plan may be cached: have reclaim look for it. */
void nc_foresight_stray(struct nc_cache *c)
{
	if (READ_ONCE(c->foresight.strays))
		return;
	WRITE_ONCE(c->foresight.strays, true);
	nc_reclaim_again(c);
}

/* Reclaim looked at all slots and found no block outside the plan. */
void nc_foresight_no_strays(struct nc_cache *c)
{
	WRITE_ONCE(c->foresight.strays, false);
}

/**
 * nc_foresight_farthest() - find the planned block to evict first
 * @c: live cache
 * @end: see nc_plan_farthest()
 * @block: result; not found again until it is read or passed to nc_foresight_took()
 *
 * Return: false if no planned block is cached.
 */
bool nc_foresight_farthest(struct nc_cache *c, u32 *end, u64 *block)
{
	struct nc_foreseen *seen = take(c);
	bool found = seen && nc_plan_farthest(&seen->plan, end, block);

	give_back(seen);
	return found;
}

/* Have the reclaim worker run nc_foresight_work().  Context: any. */
void nc_foresight_kick(struct nc_cache *c)
{
	if (nc_foresight_any(c) && READ_ONCE(c->reclaim_on))
		queue_work(c->cache_wq, &c->reclaim);
}

/* Report all cached blocks to the plan.  Concurrent changes report themselves. */
static void scan(struct nc_cache *c, struct nc_foreseen *seen)
{
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		const struct nc_slot *slot = &c->index.slots[i];

		if (READ_ONCE(slot->flags) & NC_SLOT_LINKED) {
			u64 block = (u64)READ_ONCE(slot->block_hi) << 32 |
				    READ_ONCE(slot->block_lo);

			spin_lock(&seen->lock);
			nc_plan_took(&seen->plan, block);
			spin_unlock(&seen->lock);
		}
		if (!(i % 1024))
			cond_resched();
	}
	WRITE_ONCE(seen->unscanned, false);
	/* A pass that began with another plan may just have cleared the hint. */
	WRITE_ONCE(c->foresight.strays, true);
	nc_reclaim_again(c);
}

static void seek(struct nc_foreseen *seen)
{
	spin_lock(&seen->lock);
	seen->paused = true;
	spin_unlock(&seen->lock);
	nc_plan_seek(&seen->plan);
	spin_lock(&seen->lock);
	seen->paused = false;
	spin_unlock(&seen->lock);
	WRITE_ONCE(seen->unscanned, true);
}

/* End the plan, unless another one has replaced it.  If nc_foresight.lock is taken, for a new plan,
 * do not wait, as reclaim must go on: nc_foresight_unlock() queues the worker again.
 */
static void end(struct nc_cache *c, struct nc_foreseen *seen, enum nearcache_plan_state state)
{
	WRITE_ONCE(c->foresight.late, true);
	/* Pairs with the barrier in nc_foresight_unlock(). */
	smp_mb();
	if (!mutex_trylock(&c->foresight.lock))
		return;
	WRITE_ONCE(c->foresight.late, false);
	if (current_of(&c->foresight) == seen)
		replace(c, NULL, state);
	mutex_unlock(&c->foresight.lock);
}

static void look_after(struct nc_cache *c, struct nc_foreseen *seen)
{
	bool lost, over, astray;

	spin_lock(&seen->lock);
	seen->asked = false;
	lost = seen->plan.lost;
	over = nc_plan_over(&seen->plan);
	astray = nc_plan_astray(&seen->plan);
	spin_unlock(&seen->lock);
	if (READ_ONCE(c->state) == NEARCACHE_BYPASS)
		end(c, seen, NEARCACHE_PLAN_CLEARED);
	else if (over || lost)
		end(c, seen, over ? NEARCACHE_PLAN_OVER : NEARCACHE_PLAN_LOST);
	else if (astray)
		seek(seen);
	if (READ_ONCE(seen->unscanned))
		scan(c, seen);
}

/* Do the work that takes too long for readers.  Context: the reclaim worker. */
void nc_foresight_work(struct nc_cache *c)
{
	struct nc_foreseen *seen;

	rcu_read_lock();
	seen = rcu_dereference(c->foresight.now);
	if (seen && !refcount_inc_not_zero(&seen->refs))
		seen = NULL;
	rcu_read_unlock();
	if (!seen)
		return;
	look_after(c, seen);
	put(seen);
}

/* Free all plans.  No user of the cache is left, and the reclaim worker does not run. */
void nc_foresight_destroy(struct nc_cache *c)
{
	struct nc_foreseen *seen = rcu_dereference_protected(c->foresight.now, true);

	drop_coming(&c->foresight);
	RCU_INIT_POINTER(c->foresight.now, NULL);
	if (seen)
		put(seen);
}
