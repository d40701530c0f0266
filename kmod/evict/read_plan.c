// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plan that a cache follows: the order in which user space will read.  User space hands the
 * order over in several requests.  The plan is in force from the last request until all of it was
 * read, nearly all reads are outside of it, it is cleared, or another plan replaces it.  Meanwhile
 * reads still update the stamps of slots, so the policy can select victims after the plan.
 *
 * A task that gives a slot to a block, takes it away, or invalidates all its data, holds the
 * block's bucket lock and reports this to the plan under nc_active_plan.lock.  Readers report reads
 * later, without a lock: see plan_notes.c.  The plan misses reports while it is paused, until
 * scan_slots() has run again.  It may then name a block that has no slot; reclaim detects this in
 * the index.  It also counts a block as cached whose slot a failed fill left empty, until reclaim
 * frees the slot.
 */
#include <linux/slab.h>

#include "cache.h"
#include "evict/read_plan.h"
#include "evict/free_slots.h"

void nc_plan_init(struct nc_cache *c)
{
	mutex_init(&c->plan.lock);
	spin_lock_init(&c->plan.report_lock);
}

/* Drop a reference. */
void nc_plan_release(struct nc_active_plan *active)
{
	if (!refcount_dec_and_test(&active->refs))
		return;
	nc_belady_destroy(&active->order);
	kvfree(active->notes);
	kfree(active);
}

/* Lock the plan in force.  Returns NULL without a plan, or while the reclaim worker uses the plan.
 * The caller must call give_back() in all cases.  For sparse, no lock is held until then.
 */
static struct nc_active_plan *take_plan(struct nc_cache *c)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	__release(RCU);
	if (!active)
		return NULL;
	spin_lock(&active->lock);
	__release(&active->lock);
	if (!active->paused)
		return active;
	__acquire(&active->lock);
	spin_unlock(&active->lock);
	return NULL;
}

static void give_back(struct nc_active_plan *active)
{
	if (active) {
		__acquire(&active->lock);
		spin_unlock(&active->lock);
	}
	__acquire(RCU);
	rcu_read_unlock();
}

/* Take nc_plan.lock.  Context: may sleep, for as long as it takes to build a plan. */
void nc_plan_lock(struct nc_cache *c)
{
	mutex_lock(&c->plan.lock);
}

/* Release nc_plan.lock. */
void nc_plan_unlock(struct nc_cache *c)
{
	WRITE_ONCE(c->plan.at, c->plan.coming ? c->plan.coming->figures.ranges : 0);
	mutex_unlock(&c->plan.lock);
	/* Unlock, then load @late.  Pairs with try_plan_lock(): store @late, then try the lock. */
	smp_mb();
	if (READ_ONCE(c->plan.late))
		nc_plan_kick(c);
}

/* The plan in force, or NULL.  Context: nc_plan.lock. */
struct nc_active_plan *nc_plan_current(struct nc_plan *f)
{
	return rcu_dereference_protected(f->now, lockdep_is_held(&f->lock));
}

/* Return the figures of a plan.  Context: nc_active_plan.lock. */
struct nc_belady_figures nc_plan_figures(const struct nc_active_plan *active)
{
	struct nc_belady_figures figures = active->order.figures;
	int cpu;

	lockdep_assert_held(&active->lock);
	for_each_possible_cpu(cpu)
		figures.refused += READ_ONCE(active->notes[cpu].refused);
	return figures;
}

/* Put @active, or no plan, in force.  @state: final state of the old plan if @active is NULL. */
void nc_plan_replace(struct nc_cache *c, struct nc_active_plan *active,
		     enum nearcache_plan_state state)
{
	struct nc_plan *f = &c->plan;
	struct nc_active_plan *old = nc_plan_current(f);

	lockdep_assert_held(&f->lock);
	/* Before @active is visible: nc_plan_work() or nc_plan_took() finds its strays. */
	WRITE_ONCE(f->strays, false);
	spin_lock(&f->report_lock);
	rcu_assign_pointer(f->now, active);
	f->state = active ? NEARCACHE_PLAN_RUNNING : state;
	if (active)
		f->shown = active;
	spin_unlock(&f->report_lock);
	WRITE_ONCE(c->hot.planned, !!active);
	if (!old)
		return;
	synchronize_rcu();
	/* After the grace period no reader writes notes for @old. */
	nc_plan_apply(old);
	spin_lock(&f->report_lock);
	spin_lock(&old->lock);
	f->last = nc_plan_figures(old);
	spin_unlock(&old->lock);
	f->last.memory = 0;
	if (f->shown == old)
		f->shown = NULL;
	spin_unlock(&f->report_lock);
	nc_plan_release(old);
}

/* End the plan and drop an unfinished one.  Returns whether a plan was in force. */
bool nc_plan_clear(struct nc_cache *c)
{
	bool any;

	nc_plan_lock(c);
	any = nc_plan_any(c);
	if (any)
		nc_plan_replace(c, NULL, NEARCACHE_PLAN_CLEARED);
	nc_plan_drop_coming(&c->plan);
	nc_plan_unlock(c);
	return any;
}

/* Report the plan in force, or the last one.  Takes no mutex, as any user may ask.  Context:
 * process.
 */
void nc_plan_report(struct nc_cache *c, struct nc_plan_report *report)
{
	struct nc_plan *f = &c->plan;

	nc_plan_apply_now(c);
	report->at = READ_ONCE(f->at);
	spin_lock(&f->report_lock);
	report->state = f->state;
	report->no_prefetch = READ_ONCE(f->no_prefetch);
	report->figures = f->last;
	if (f->shown) {
		spin_lock(&f->shown->lock);
		report->figures = nc_plan_figures(f->shown);
		spin_unlock(&f->shown->lock);
	}
	spin_unlock(&f->report_lock);
}

static void count_refused(const struct nc_active_plan *active)
{
	active->notes[get_cpu()].refused++;
	put_cpu();
}

/**
 * nc_plan_admits() - decide whether to cache a missing block that is being read
 * @c: live cache
 * @block: origin block
 * @left: number of free slots that @block may use
 * @low: the low water mark that applies when there is no plan, for nc_belady_admits()
 *
 * Context: process; bucket locks may be held, as for the functions below.
 * Return: whether the block may take a slot; without a plan: whether @left is not 0.
 */
bool nc_plan_admits(struct nc_cache *c, u64 block, u32 left, u32 low)
{
	const struct nc_active_plan *active;
	bool admits = left;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active && !READ_ONCE(active->paused)) {
		admits = nc_belady_admits(&active->order, block, left, low,
					  READ_ONCE(c->plan.strays));
		if (!admits)
			count_refused(active);
	}
	rcu_read_unlock();
	return admits;
}

/* Report that a block has a slot.  @brought: a fill is about to bring data into a new or an emptied
 * slot, and the caller holds the bucket lock.  @pinned: reclaim must not evict the block.
 */
void nc_plan_took(struct nc_cache *c, u64 block, bool brought, bool pinned)
{
	struct nc_active_plan *active = take_plan(c);
	bool stray = active && !nc_belady_took(&active->order, block, brought);

	give_back(active);
	if (stray && !pinned)
		nc_plan_stray(c);
}

/* Report that a block lost its slot, or that its slot has no valid data and no fill of the block is
 * in flight.  Context: the block's bucket lock is held.
 */
void nc_plan_gone(struct nc_cache *c, u64 block)
{
	struct nc_active_plan *active = take_plan(c);

	if (active)
		nc_belady_gone(&active->order, block);
	give_back(active);
}

/* Is a cached block not in the plan, so that reclaim may evict it as if it were idle?  A hint. */
bool nc_plan_is_stray(struct nc_cache *c, u64 block)
{
	struct nc_active_plan *active;
	bool stray;

	if (!READ_ONCE(c->plan.strays))
		return false;
	active = take_plan(c);
	stray = active && !READ_ONCE(active->unscanned) && !nc_belady_holds(&active->order, block);
	give_back(active);
	return stray;
}

/* Report that a block outside the plan may now have a slot: reclaim's next pass looks for it. */
void nc_plan_stray(struct nc_cache *c)
{
	if (READ_ONCE(c->plan.strays))
		return;
	WRITE_ONCE(c->plan.strays, true);
	nc_slots_look_again(c);
}

/* Report that reclaim looked at all slots and found no block outside the plan. */
void nc_plan_no_strays(struct nc_cache *c)
{
	WRITE_ONCE(c->plan.strays, false);
}

/**
 * nc_plan_farthest() - find the planned block to evict next
 * @c: live cache
 * @end: see nc_belady_farthest()
 * @block: result; later calls do not find it until it is read or passed to nc_plan_took()
 *
 * Return: false if no planned block is cached.
 */
bool nc_plan_farthest(struct nc_cache *c, u32 *end, u64 *block)
{
	struct nc_active_plan *active = take_plan(c);
	bool found = active && nc_belady_farthest(&active->order, end, block);

	give_back(active);
	return found;
}

/**
 * nc_plan_look() - let a cursor follow the readers of the plan in force
 * @c: live cache
 * @cursor: zeroed before the first call; moved to the readers' position if they are beyond it, and
 *	set anew if they have jumped or another plan is in force
 *
 * Context: process; no other call uses @cursor.
 * Return: false without a plan, or while the reclaim worker uses it.
 */
bool nc_plan_look(struct nc_cache *c, struct nc_plan_cursor *cursor)
{
	struct nc_active_plan *active;
	const struct nc_belady *order;

	nc_plan_apply_now(c);
	active = take_plan(c);
	if (active) {
		order = &active->order;
		if (cursor->number != active->number || cursor->sought != order->figures.sought)
			*cursor = (struct nc_plan_cursor) { };
		cursor->number = active->number;
		cursor->sought = order->figures.sought;
		cursor->visits = order->figures.visits;
		cursor->position = order->figures.position;
		cursor->at = max(cursor->at, cursor->position);
		cursor->made = order->figures.hits + order->figures.misses;
		cursor->astray = order->figures.astray;
		cursor->spare = order->spares;
		cursor->front = max(order->front, order->figures.position);
	}
	give_back(active);
	return active;
}

/* Most visits that nc_plan_ahead() looks at under the lock. */
#define LOOK_VISITS	256U

/**
 * nc_plan_ahead() - find the next visit of the plan whose data must still be brought
 * @c: live cache
 * @cursor: of nc_plan_look(); moved behind the visit
 * @end: visit before which to look
 * @near: see nc_belady_ahead()
 * @full: see nc_belady_ahead()
 * @span: set to the sub-blocks of the visit
 *
 * Context: process; may sleep.
 * Return: false if there is none before @end, or if the plan has changed.
 */
bool nc_plan_ahead(struct nc_cache *c, struct nc_plan_cursor *cursor, u32 end, u32 near, bool full,
		   struct nc_span *span)
{
	struct nc_belady_piece piece;
	struct nc_active_plan *active;
	bool found = false, more;
	u32 from, part;

	do {
		from = cursor->at;
		part = min(end, from + LOOK_VISITS);
		active = take_plan(c);
		more = active && active->number == cursor->number;
		if (more)
			found = nc_belady_ahead(&active->order, &cursor->at, part, near, full,
						&piece) != NC_BELADY_NONE;
		if (more)
			cursor->spare = active->order.spares;
		give_back(active);
		cond_resched();
	} while (more && !found && cursor->at == part && part < end && part > from);
	if (found)
		*span = (struct nc_span) {
			.block = piece.block, .first = piece.first, .last = piece.last,
		};
	return found;
}

/**
 * nc_plan_unread() - do readers still need the data of a visit?
 * @c: live cache
 * @cursor: of nc_plan_look()
 * @v: visit that nc_plan_ahead() found with @cursor
 * @span: sub-blocks of the visit; shortened to the first ones, for which the result holds
 *
 * A reader that overtakes the stream and gets no slot reads at the origin.  If the stream brought
 * the same data later, reclaim would evict it unread.
 *
 * Context: process.
 * Return: false if readers have read @span or skipped the visit; true otherwise, also if the plan
 * has changed or is paused.
 */
bool nc_plan_unread(struct nc_cache *c, const struct nc_plan_cursor *cursor, u32 v,
		    struct nc_span *span)
{
	struct nc_active_plan *active = take_plan(c);
	bool unread = true;

	if (active && active->number == cursor->number &&
	    active->order.figures.sought == cursor->sought)
		unread = nc_belady_unread(&active->order, v, span->first, &span->last);
	give_back(active);
	return unread;
}

/* Have the reclaim worker run nc_plan_work().  Context: any. */
void nc_plan_kick(struct nc_cache *c)
{
	if (nc_plan_any(c) && READ_ONCE(c->reclaim.enabled))
		queue_work(c->workers.cache, &c->reclaim.work);
}

/* Report the block of a slot to the plan if the slot has valid data or a fill of the block is in
 * flight.  If neither, an invalidation has emptied the slot, and the plan must not count its block
 * as cached.  Returns true if the block is neither planned nor pinned.
 */
static bool scan_slot(struct nc_cache *c, struct nc_active_plan *active, u32 i)
{
	const struct nc_slot *slot = &c->index.slots[i];
	u64 block = nc_slot_block_hint(slot);
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);
	bool stray = false;

	spin_lock(&bucket->lock);
	if (nc_index_find(&c->index, block) == i &&
	    (slot->valid || nc_bucket_is_filling(bucket, block))) {
		spin_lock(&active->lock);
		stray = !nc_belady_took(&active->order, block, false) &&
			!nc_tag_is_pinned(READ_ONCE(slot->tagged));
		spin_unlock(&active->lock);
	}
	spin_unlock(&bucket->lock);
	return stray;
}

/* Report all cached blocks to the plan.  Tasks that change slots meanwhile report the changes. */
static void scan_slots(struct nc_cache *c, struct nc_active_plan *active)
{
	bool strays = false;
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		if (READ_ONCE(c->index.slots[i].flags) & NC_SLOT_LINKED)
			strays |= scan_slot(c, active, i);
		if (!(i % 1024))
			cond_resched();
	}
	WRITE_ONCE(active->unscanned, false);
	if (!strays)
		return;
	WRITE_ONCE(c->plan.strays, true);
	nc_slots_look_again(c);
}

/* Take nc_plan.lock.  If a request holds it, to build a new plan, do not wait, because reclaim must
 * go on: nc_plan_unlock() queues the worker again.
 */
static bool try_plan_lock(struct nc_cache *c)
{
	WRITE_ONCE(c->plan.late, true);
	/* Store @late, then try the lock.  Pairs with nc_plan_unlock(): unlock, then load @late. */
	smp_mb();
	if (!mutex_trylock(&c->plan.lock))
		return false;
	WRITE_ONCE(c->plan.late, false);
	return true;
}

/* Find the readers' place, unless a request holds nc_plan.lock to replace or continue the plan. */
static void seek_position(struct nc_cache *c, struct nc_active_plan *active)
{
	if (!try_plan_lock(c))
		return;
	spin_lock(&active->lock);
	WRITE_ONCE(active->paused, true);
	spin_unlock(&active->lock);
	nc_belady_seek(&active->order);
	/* Before others use the plan, which knows no cached block now. */
	WRITE_ONCE(active->unscanned, true);
	spin_lock(&active->lock);
	WRITE_ONCE(active->paused, false);
	spin_unlock(&active->lock);
	mutex_unlock(&c->plan.lock);
	nc_plan_apply(active);
}

/* End the plan, unless another one has replaced it or is about to. */
static void end_plan(struct nc_cache *c, struct nc_active_plan *active,
		     enum nearcache_plan_state state)
{
	if (!try_plan_lock(c))
		return;
	if (nc_plan_current(&c->plan) == active)
		nc_plan_replace(c, NULL, state);
	mutex_unlock(&c->plan.lock);
}

static void look_after(struct nc_cache *c, struct nc_active_plan *active)
{
	bool lost, over, astray;

	nc_plan_apply(active);
	spin_lock(&active->lock);
	active->asked = false;
	lost = active->order.lost;
	over = nc_belady_over(&active->order);
	astray = nc_belady_astray(&active->order);
	spin_unlock(&active->lock);
	if (READ_ONCE(c->hot.state) == NEARCACHE_BYPASS)
		end_plan(c, active, NEARCACHE_PLAN_CLEARED);
	else if (over || lost)
		end_plan(c, active, over ? NEARCACHE_PLAN_OVER : NEARCACHE_PLAN_LOST);
	else if (astray)
		seek_position(c, active);
	if (READ_ONCE(active->unscanned))
		scan_slots(c, active);
}

/* Return the plan in force with a reference, or NULL. */
struct nc_active_plan *nc_plan_hold(struct nc_cache *c)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active && !refcount_inc_not_zero(&active->refs))
		active = NULL;
	rcu_read_unlock();
	return active;
}

/**
 * nc_plan_schedule() - compute the schedule of the plan in force, and mark the spare slots
 * @c: live cache
 * @cursor: of nc_plan_look(); sets @scheduled when there is nothing more to do, and @foreseen if
 *	nc_belady.absent is valid
 * @stop: set by another task to end the call early
 *
 * Does nothing until the reclaim worker has reported the cached blocks.  If memory is short, the
 * previous schedule stays, and @cursor is marked as scheduled.
 *
 * Context: process; may sleep; takes up to two seconds for the longest plan; one call at a time.
 */
void nc_plan_schedule(struct nc_cache *c, struct nc_plan_cursor *cursor, const bool *stop)
{
	struct nc_active_plan *active = nc_plan_hold(c);
	unsigned int noio;
	u32 entry = 0;
	bool more;
	int r;

	if (!active)
		return;
	if (active->number != cursor->number || READ_ONCE(active->unscanned))
		goto out;
	/* A suspend waits for the caller, and then no I/O of a file system on the cache ends. */
	noio = memalloc_noio_save();
	r = nc_belady_schedule(&active->order, c->index.count - nc_slots_high_mark(c), stop);
	memalloc_noio_restore(noio);
	cursor->scheduled = r != -EINTR;
	cursor->foreseen = !r;
	if (r)
		goto out;
	do {
		spin_lock(&active->lock);
		more = !active->paused && nc_belady_mark_spare(&active->order, &entry);
		spin_unlock(&active->lock);
		cond_resched();
	} while (more);
out:
	nc_plan_release(active);
}

/* End the plan, find the readers' place or report cached blocks.  Context: the reclaim worker. */
void nc_plan_work(struct nc_cache *c)
{
	struct nc_active_plan *active = nc_plan_hold(c);

	if (!active)
		return;
	look_after(c, active);
	nc_plan_release(active);
}

/* Free all plans.  The caller ensures that no I/O is left and that the reclaim worker is idle. */
void nc_plan_destroy(struct nc_cache *c)
{
	struct nc_active_plan *active = rcu_dereference_protected(c->plan.now, true);

	nc_plan_drop_coming(&c->plan);
	RCU_INIT_POINTER(c->plan.now, NULL);
	if (active)
		nc_plan_release(active);
}
