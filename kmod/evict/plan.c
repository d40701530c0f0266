// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plan that a cache follows.  User space hands the coming order over, in as many requests as
 * it takes, and it is in force from its last one on, until all of it was read, hardly anything
 * that is read is part of it, it is cleared, or another one is in force.  Then the policy decides
 * again, which has gone on with its stamps meanwhile.
 *
 * Who reads takes the plan's lock, for as long as it takes to look a block up and to set a few
 * bits.  What takes longer is the reclaim worker's.  The plan is told of each slot that is given
 * to a block or taken from it under the block's stripe lock, so the two agree; what it is told of
 * reads may come late, and what it then says is found wrong when the block is to go.
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

/* The plan in force, with its lock; NULL if there is none, or the worker has it for itself.  Sparse
 * is told that nothing is held until give_back().
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

/**
 * nc_foresight_lock() - take nc_foresight.lock
 * @c: cache
 *
 * Context: may sleep, for as long as it takes to build a plan.
 */
void nc_foresight_lock(struct nc_cache *c)
{
	mutex_lock(&c->foresight.lock);
}

/**
 * nc_foresight_unlock() - give it back
 * @c: cache
 */
void nc_foresight_unlock(struct nc_cache *c)
{
	mutex_unlock(&c->foresight.lock);
	/* Pairs with end(). */
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

/**
 * nc_foresight_checks() - from now on hits are checked, or not
 * @c: live cache
 * @checked: are they, for other reasons than a plan?
 *
 * Context: nc_cache.life.
 */
void nc_foresight_checks(struct nc_cache *c, bool checked)
{
	nc_foresight_lock(c);
	c->foresight.checked = checked;
	set_checks(c);
	nc_foresight_unlock(c);
}

/* @seen, or none, is in force from now on.  @state: what becomes of the one before. */
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
 * nc_foresight_begin() - more of a plan is about to come
 * @c: live cache
 * @at: ranges that came before; 0: it begins, and what came before is forgotten
 *
 * Context: nc_foresight.lock, as of those below; may sleep.
 * Return: 0, -ENOMEM, or -ESTALE: so many did not come before.
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
 * nc_foresight_append() - a range is read next
 * @c: live cache
 * @first: first sector
 * @end: behind the last one
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

/**
 * nc_foresight_drop() - forget what came of a plan that is not in force
 * @c: cache
 */
void nc_foresight_drop(struct nc_cache *c)
{
	lockdep_assert_held(&c->foresight.lock);
	drop_coming(&c->foresight);
}

/**
 * nc_foresight_commit() - what came is all of the plan: it is in force from now on
 * @c: live cache, to which a visit came at least
 *
 * Return: 0 or -ENOMEM: the one before stays in force, and what came is forgotten.
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

/**
 * nc_foresight_clear() - there is no plan any more, nor one that is coming
 * @c: cache
 *
 * Return: whether there was one in force.
 */
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

/**
 * nc_foresight_figures() - how far the plan is, or how far the last one came
 * @c: cache
 * @figures: the result
 */
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

/* Does the worker have to look after it? */
static bool wants_work(const struct nc_plan *plan)
{
	return plan->lost || nc_plan_over(plan) || nc_plan_astray(plan);
}

/**
 * nc_foresight_read() - somebody reads
 * @c: live cache
 * @span: sub-blocks of which it is
 * @first: first sector
 * @end: behind the last one; no more than @span counts
 * @hit: it is one, and nc_cache.holds is held
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
 * nc_foresight_admits() - is a block that is missing, and being read, to be cached?
 * @c: live cache
 * @block: origin block
 * @left: free slots that it may have
 * @low: free slots below which some are made without a plan
 *
 * Context: process; stripe locks may be held, as for those below.
 */
bool nc_foresight_admits(struct nc_cache *c, u64 block, u32 left, u32 low)
{
	struct nc_foreseen *seen = take(c);
	bool admits = seen ? nc_plan_admits(&seen->plan, block, left, low) : left;

	give_back(seen);
	return admits;
}

/* A slot was given to a block, and its stripe lock is held; or it is found to have one still. */
void nc_foresight_took(struct nc_cache *c, u64 block)
{
	struct nc_foreseen *seen = take(c);
	bool stray = seen && !nc_plan_took(&seen->plan, block);

	give_back(seen);
	if (stray)
		nc_foresight_stray(c);
}

/* Its slot was taken from a block; its stripe lock is held. */
void nc_foresight_gone(struct nc_cache *c, u64 block)
{
	struct nc_foreseen *seen = take(c);

	if (seen)
		nc_plan_gone(&seen->plan, block);
	give_back(seen);
}

/**
 * nc_foresight_is_stray() - is a cached block one that the plan knows nothing of?
 * @c: live cache
 * @block: origin block
 */
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

/* There may be some. */
void nc_foresight_stray(struct nc_cache *c)
{
	if (READ_ONCE(c->foresight.strays))
		return;
	WRITE_ONCE(c->foresight.strays, true);
	nc_reclaim_again(c);
}

/* All slots were looked at, and there was none. */
void nc_foresight_no_strays(struct nc_cache *c)
{
	WRITE_ONCE(c->foresight.strays, false);
}

/**
 * nc_foresight_farthest() - which block is to go first?
 * @c: live cache
 * @end: see nc_plan_farthest()
 * @block: the result; it is not found again before it is read, or nc_foresight_took()
 *
 * Return: false: none that is planned.
 */
bool nc_foresight_farthest(struct nc_cache *c, u32 *end, u64 *block)
{
	struct nc_foreseen *seen = take(c);
	bool found = seen && nc_plan_farthest(&seen->plan, end, block);

	give_back(seen);
	return found;
}

/* The worker looks after the plan.  Context: any. */
void nc_foresight_kick(struct nc_cache *c)
{
	if (nc_foresight_any(c) && READ_ONCE(c->reclaim_on))
		queue_work(c->cache_wq, &c->reclaim);
}

/* Tell the plan what is cached.  What changes meanwhile is told by who changes it. */
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
	/* A pass that began with another plan may just have said that there are none. */
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

/* It is over, or of no use; unless another one has taken its place.  While one is being built that
 * would have to wait, and slots are wanted meanwhile: then it is done later.
 */
static void end(struct nc_cache *c, struct nc_foreseen *seen, enum nearcache_plan_state state)
{
	WRITE_ONCE(c->foresight.late, true);
	/* Pairs with nc_foresight_unlock(). */
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

/**
 * nc_foresight_work() - what reads have no time for
 * @c: live cache
 *
 * Context: the reclaim worker.
 */
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

/**
 * nc_foresight_destroy() - free all of it
 * @c: cache that nobody uses any more; the reclaim worker does not run
 */
void nc_foresight_destroy(struct nc_cache *c)
{
	struct nc_foreseen *seen = rcu_dereference_protected(c->foresight.now, true);

	drop_coming(&c->foresight);
	RCU_INIT_POINTER(c->foresight.now, NULL);
	if (seen)
		put(seen);
}
