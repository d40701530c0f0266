// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plan that a cache follows: the order in which user space will read.  User space hands the
 * order over in several requests.  The plan is in force from the last request until all of it was
 * read, nearly all reads are outside of it, it is cleared, or another plan replaces it.  Meanwhile
 * slots keep their stamps up to date, so that the policy can select victims again afterwards.
 *
 * Readers take no lock.  Each processor notes its reads in a ring, and a work applies the notes to
 * the plan: soon after a ring is half full, or else within two ticks of the timer.  Notes are also
 * applied before reclaim chooses blocks, before a report, and before a plan ends.  If all rings hold
 * many notes, part of each ring is applied in turn, so that reads stay near their order.
 *
 * Callers report each slot that a block gets or loses under the block's bucket lock and the plan's
 * spin lock, so plan and index agree.  A note says only that a block was read, so a late or lost
 * note moves one block in the order of evictions; no data depends on it.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "cache.h"
#include "evict/read_plan.h"
#include "evict/free_slots.h"

void nc_plan_init(struct nc_cache *c)
{
	mutex_init(&c->plan.lock);
	spin_lock_init(&c->plan.report_lock);
}

static void release_plan(struct nc_active_plan *active)
{
	if (!refcount_dec_and_test(&active->refs))
		return;
	nc_belady_destroy(&active->order);
	free_percpu(active->notes);
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
	/* Unlock, then load @late.  Pairs with end_plan(): store @late, then try the lock. */
	smp_mb();
	if (READ_ONCE(c->plan.late))
		nc_plan_kick(c);
}

static struct nc_active_plan *current_plan(struct nc_plan *f)
{
	return rcu_dereference_protected(f->now, lockdep_is_held(&f->lock));
}

/* Most parts of a call of apply_notes().  More would keep the order of reads better. */
#define PARTS_MAX	16U

/* Apply the oldest notes of each ring to the plan: 1 / @parts of them, rounded up. */
static u32 apply_part(struct nc_active_plan *active, u32 parts)
{
	u32 applied = 0;
	int cpu;

	lockdep_assert_held(&active->lock);
	for_each_possible_cpu(cpu)
		applied += nc_notes_take(per_cpu_ptr(active->notes, cpu), parts, &active->order);
	return applied;
}

/* Apply all notes that were written before the call, unless the plan is paused.  The caller holds a
 * reference or rcu_read_lock().  Returns the number of notes.
 */
static u32 apply_notes(struct nc_active_plan *active)
{
	u32 most = 0, applied = 0, parts;
	int cpu;

	for_each_possible_cpu(cpu)
		most = max(most, nc_notes_waiting(per_cpu_ptr(active->notes, cpu)));
	for (parts = min(most, PARTS_MAX); parts; parts--) {
		spin_lock(&active->lock);
		if (!active->paused)
			applied += apply_part(active, parts);
		spin_unlock(&active->lock);
	}
	return applied;
}

/* Return the figures of a plan.  Context: nc_active_plan.lock. */
static struct nc_belady_figures figures_of(const struct nc_active_plan *active)
{
	struct nc_belady_figures figures = active->order.figures;
	int cpu;

	lockdep_assert_held(&active->lock);
	for_each_possible_cpu(cpu)
		figures.refused += READ_ONCE(per_cpu_ptr(active->notes, cpu)->refused);
	return figures;
}

/* Put @active, or no plan, in force.  @state: final state of the old plan if @active is NULL. */
static void replace_plan(struct nc_cache *c, struct nc_active_plan *active,
			 enum nearcache_plan_state state)
{
	struct nc_plan *f = &c->plan;
	struct nc_active_plan *old = current_plan(f);

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
	/* No reader writes notes for the old plan any more. */
	apply_notes(old);
	spin_lock(&f->report_lock);
	spin_lock(&old->lock);
	f->last = figures_of(old);
	spin_unlock(&old->lock);
	f->last.memory = 0;
	if (f->shown == old)
		f->shown = NULL;
	spin_unlock(&f->report_lock);
	release_plan(old);
}

static void drop_coming(struct nc_plan *f)
{
	if (!f->coming)
		return;
	nc_belady_destroy(f->coming);
	kfree(f->coming);
	f->coming = NULL;
}

/**
 * nc_plan_begin() - prepare for the next ranges of a plan
 * @c: live cache
 * @at: number of ranges handed over so far; 0: begin a new plan and drop an unfinished one
 *
 * Context: nc_plan.lock, as for the functions below; may sleep.
 * Return: 0, -ENOMEM, or -ESTALE if @at does not match.
 */
int nc_plan_begin(struct nc_cache *c, u64 at)
{
	struct nc_plan *f = &c->plan;

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
 * nc_plan_append() - append a range to the plan
 * @c: live cache
 * @first: first sector
 * @end: sector behind the last one
 *
 * Return: 0, -ENOMEM, or -E2BIG: the plan is too long.
 */
int nc_plan_append(struct nc_cache *c, u64 first, u64 end)
{
	struct nc_belady *plan = c->plan.coming;
	int r = nc_belady_append(plan, first >> c->hot.sub_shift, (end - 1) >> c->hot.sub_shift);

	lockdep_assert_held(&c->plan.lock);
	if (!r)
		plan->figures.ranges++;
	return r;
}

/* Allocate a plan for the order that was handed over.  Returns NULL if out of memory. */
static struct nc_active_plan *alloc_plan(struct nc_cache *c)
{
	struct nc_active_plan *active = kzalloc(sizeof(*active), GFP_KERNEL);
	struct nc_belady *coming = c->plan.coming;

	if (!active)
		return NULL;
	active->notes = alloc_percpu(struct nc_notes);
	if (!active->notes || nc_belady_build(coming, get_random_u64(), c->index.count)) {
		free_percpu(active->notes);
		kfree(active);
		return NULL;
	}
	spin_lock_init(&active->lock);
	refcount_set(&active->refs, 1);
	active->order = *coming;
	active->order.figures.memory += num_possible_cpus() * sizeof(struct nc_notes);
	active->batch = clamp(coming->late / num_online_cpus(), 1U, NC_NOTES / 2);
	active->fresh = clamp(coming->fresh / num_online_cpus(), 1U, active->batch);
	active->due = 1;
	active->unscanned = true;
	return active;
}

/**
 * nc_plan_commit() - put the completely handed-over plan in force
 * @c: live cache; the plan has at least one visit
 * @flags: NC_PLAN_APPEND: the new plan continues the plan in force, if there is one, else it
 *	replaces it; NC_PLAN_NO_PREFETCH
 *
 * Return: 0, -ENOMEM, or -E2BIG: both plans together are too long; after an error the old plan
 * stays in force and the new one is dropped.
 */
int nc_plan_commit(struct nc_cache *c, unsigned int flags)
{
	struct nc_plan *f = &c->plan;
	struct nc_active_plan *active;

	lockdep_assert_held(&f->lock);
	if (flags & NC_PLAN_APPEND && nc_plan_any(c)) {
		drop_coming(f);
		return -EOPNOTSUPP;
	}
	active = alloc_plan(c);
	if (!active) {
		drop_coming(f);
		return -ENOMEM;
	}
	active->number = ++f->numbers;
	kfree(f->coming);
	f->coming = NULL;
	WRITE_ONCE(f->no_prefetch, flags & NC_PLAN_NO_PREFETCH);
	replace_plan(c, active, 0);
	nc_slots_look_again(c);
	nc_plan_kick(c);
	return 0;
}

/* End the plan and drop an unfinished one.  Returns whether a plan was in force. */
bool nc_plan_clear(struct nc_cache *c)
{
	bool any;

	nc_plan_lock(c);
	any = nc_plan_any(c);
	if (any)
		replace_plan(c, NULL, NEARCACHE_PLAN_CLEARED);
	drop_coming(&c->plan);
	nc_plan_unlock(c);
	return any;
}

/* Does the plan need nc_plan_work(): to end, or to find the readers' place? */
static bool wants_work(const struct nc_belady *plan)
{
	return plan->lost || nc_belady_over(plan) || nc_belady_astray(plan);
}

/* Queue the reclaim worker if the plan needs nc_plan_work(). */
static void ask_work(struct nc_cache *c, struct nc_active_plan *active)
{
	bool work = false;

	spin_lock(&active->lock);
	if (!active->paused && !active->asked)
		work = wants_work(&active->order);
	active->asked |= work;
	spin_unlock(&active->lock);
	if (work)
		nc_plan_kick(c);
}

/* Apply notes now, unless another task has the lock. */
static void apply_early(struct nc_active_plan *active)
{
	if (!spin_trylock(&active->lock))
		return;
	if (!active->paused)
		apply_part(active, 1);
	spin_unlock(&active->lock);
}

/* Apply all notes of the plan in force.  Context: process. */
static void apply_current(struct nc_cache *c)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active) {
		apply_notes(active);
		ask_work(c, active);
	}
	rcu_read_unlock();
}

/* Report the plan in force, or the last one.  Takes no mutex, as any user may ask.  Context:
 * process.
 */
void nc_plan_report(struct nc_cache *c, struct nc_plan_report *report)
{
	struct nc_plan *f = &c->plan;

	apply_current(c);
	report->at = READ_ONCE(f->at);
	spin_lock(&f->report_lock);
	report->state = f->state;
	report->no_prefetch = READ_ONCE(f->no_prefetch);
	report->figures = f->last;
	if (f->shown) {
		spin_lock(&f->shown->lock);
		report->figures = figures_of(f->shown);
		spin_unlock(&f->shown->lock);
	}
	spin_unlock(&f->report_lock);
}

/* Queue the work that applies notes: @waiting notes of a processor are due. */
static void queue_notes_work(struct nc_cache *c, struct nc_active_plan *active, u32 waiting)
{
	if (waiting >= active->batch) {
		WRITE_ONCE(active->due, NC_NOTES + 1);
		mod_delayed_work(c->workers.cache, &c->plan.notes_work, 0);
	} else {
		WRITE_ONCE(active->due, active->batch);
		queue_delayed_work(c->workers.cache, &c->plan.notes_work, 1);
	}
}

/* Notes of this processor are due, or (@waiting is 0) @note found no room: then apply notes here,
 * and write it now, or lose it if another task is applying notes.
 */
static noinline void notes_due(struct nc_cache *c, u64 note, u32 waiting)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active && !waiting) {
		apply_early(active);
		nc_note_write(get_cpu_ptr(active->notes), note);
		put_cpu_ptr(active->notes);
		waiting = active->batch;
	}
	if (active)
		queue_notes_work(c, active, waiting);
	rcu_read_unlock();
}

/* Write a note for the plan in force.  Disabled preemption is an RCU section as well. */
static __always_inline void write_note(struct nc_cache *c, u64 note)
{
	u32 waiting = 1, due = NC_NOTES + 1;
	struct nc_active_plan *active;

	rcu_read_lock_sched();
	active = rcu_dereference_sched(c->plan.now);
	if (active) {
		waiting = nc_note_write(this_cpu_ptr(active->notes), note);
		due = READ_ONCE(active->due);
	}
	rcu_read_unlock_sched();
	/* Also if @waiting is 0. */
	if (unlikely(waiting - 1 >= due - 1))
		notes_due(c, note, waiting);
}

/* Note a hit within one block for the plan.  Context: process.  Takes no lock, and writes only
 * memory of this processor, except once for each batch of notes, or if notes are not applied in
 * time: then this note may be lost.
 */
void nc_plan_hit(struct nc_cache *c, const struct bio *bio)
{
	u64 first = bio->bi_iter.bi_sector, end = first + bio_sectors(bio);
	u32 mask = c->hot.block_mask, shift = c->hot.sub_shift;
	bool whole = !(end & ((1U << shift) - 1)) || end == c->geo.origin_size >> SECTOR_SHIFT;

	write_note(c, nc_note_of(first >> c->hot.block_shift, ((u32)first & mask) >> shift,
				 ((u32)(end - 1) & mask) >> shift, whole, true));
}

/**
 * nc_plan_read() - note a read for the plan
 * @c: live cache
 * @span: sub-blocks of the read, in one block
 * @first: first sector of the read
 * @end: sector behind the read, which may extend beyond @span
 * @hit: the read is a hit
 *
 * Context: see nc_plan_hit().
 */
void nc_plan_read(struct nc_cache *c, const struct nc_span *span, sector_t first,
		  sector_t end, bool hit)
{
	sector_t span_end = (span->block << c->hot.block_shift) +
			    ((sector_t)(span->last + 1) << c->hot.sub_shift);
	bool whole = end >= min_t(sector_t, span_end, c->geo.origin_size >> SECTOR_SHIFT);

	write_note(c, nc_note_of(span->block, span->first, span->last, whole, hit));
}

/* Bring the plan up to date before nc_plan_admits() is called, unless another task does it or this
 * processor has few notes.  Context: process; no bucket lock is held.
 */
void nc_plan_refresh(struct nc_cache *c)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active && nc_notes_waiting(raw_cpu_ptr(active->notes)) >= active->fresh)
		apply_early(active);
	rcu_read_unlock();
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
			this_cpu_inc(active->notes->refused);
	}
	rcu_read_unlock();
	return admits;
}

/* Report that a block has a slot: a new one (the bucket lock is held), or one that it keeps.
 * @pinned: reclaim may not evict the block.
 */
void nc_plan_took(struct nc_cache *c, u64 block, bool pinned)
{
	struct nc_active_plan *active = take_plan(c);
	bool stray = active && !nc_belady_took(&active->order, block);

	give_back(active);
	if (stray && !pinned)
		nc_plan_stray(c);
}

/* Report that a block lost its slot.  Context: the block's bucket lock is held. */
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
 * @cursor: zeroed before the first call; moved if readers have passed it or have jumped, or if the
 *	plan is another one
 *
 * Context: process; no other call uses @cursor.
 * Return: false without a plan, or while the reclaim worker uses it.
 */
bool nc_plan_look(struct nc_cache *c, struct nc_plan_cursor *cursor)
{
	struct nc_active_plan *active;
	const struct nc_belady *order;

	apply_current(c);
	active = take_plan(c);
	if (active) {
		order = &active->order;
		if (cursor->number != active->number || cursor->sought != order->figures.sought)
			cursor->at = 0;
		cursor->number = active->number;
		cursor->sought = order->figures.sought;
		cursor->at = max(cursor->at, order->figures.position);
		cursor->followed = order->expected >= order->others;
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
 * @full: see nc_belady_ahead()
 * @span: set to the sub-blocks of the visit
 *
 * Context: process; may sleep.
 * Return: false if there is none before @end, or if the plan has changed.
 */
bool nc_plan_ahead(struct nc_cache *c, struct nc_plan_cursor *cursor, u32 end, bool full,
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
			found = nc_belady_ahead(&active->order, &cursor->at, part, full,
						&piece) != NC_BELADY_NONE;
		give_back(active);
		cond_resched();
	} while (more && !found && cursor->at == part && part < end && part > from);
	if (found)
		*span = (struct nc_span) {
			.block = piece.block, .first = piece.first, .last = piece.last,
		};
	return found;
}

/* Have the reclaim worker run nc_plan_work().  Context: any. */
void nc_plan_kick(struct nc_cache *c)
{
	if (nc_plan_any(c) && READ_ONCE(c->reclaim.enabled))
		queue_work(c->workers.cache, &c->reclaim.work);
}

/* Report all cached blocks to the plan.  Tasks that change slots meanwhile report the changes. */
static void scan_slots(struct nc_cache *c, struct nc_active_plan *active)
{
	bool strays = false;
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		const struct nc_slot *slot = &c->index.slots[i];

		if (READ_ONCE(slot->flags) & NC_SLOT_LINKED) {
			u64 block = nc_slot_block_hint(slot);

			spin_lock(&active->lock);
			strays |= !nc_belady_took(&active->order, block) &&
				  !nc_tag_is_pinned(READ_ONCE(slot->tagged));
			spin_unlock(&active->lock);
		}
		if (!(i % 1024))
			cond_resched();
	}
	WRITE_ONCE(active->unscanned, false);
	if (!strays)
		return;
	WRITE_ONCE(c->plan.strays, true);
	nc_slots_look_again(c);
}

static void seek_position(struct nc_active_plan *active)
{
	spin_lock(&active->lock);
	WRITE_ONCE(active->paused, true);
	spin_unlock(&active->lock);
	nc_belady_seek(&active->order);
	spin_lock(&active->lock);
	WRITE_ONCE(active->paused, false);
	spin_unlock(&active->lock);
	WRITE_ONCE(active->unscanned, true);
	apply_notes(active);
}

/* End the plan, unless another one has replaced it.  If a request holds nc_plan.lock, to build a
 * new plan, do not wait, because reclaim must go on: nc_plan_unlock() queues the worker again.
 */
static void end_plan(struct nc_cache *c, struct nc_active_plan *active,
		     enum nearcache_plan_state state)
{
	WRITE_ONCE(c->plan.late, true);
	/* Store @late, then try the lock.  Pairs with nc_plan_unlock(): unlock, then load @late. */
	smp_mb();
	if (!mutex_trylock(&c->plan.lock))
		return;
	WRITE_ONCE(c->plan.late, false);
	if (current_plan(&c->plan) == active)
		replace_plan(c, NULL, state);
	mutex_unlock(&c->plan.lock);
}

static void look_after(struct nc_cache *c, struct nc_active_plan *active)
{
	bool lost, over, astray;

	apply_notes(active);
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
		seek_position(active);
	if (READ_ONCE(active->unscanned))
		scan_slots(c, active);
}

/* Return the plan in force with a reference, or NULL. */
static struct nc_active_plan *hold_plan(struct nc_cache *c)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active && !refcount_inc_not_zero(&active->refs))
		active = NULL;
	rcu_read_unlock();
	return active;
}

/* End the plan, find the readers' place or report cached blocks.  Context: the reclaim worker. */
void nc_plan_work(struct nc_cache *c)
{
	struct nc_active_plan *active = hold_plan(c);

	if (!active)
		return;
	look_after(c, active);
	release_plan(active);
}

/* Apply the notes of all processors.  Returns false if there were none: then readers must queue the
 * work again.
 */
static bool apply_due(struct nc_cache *c, struct nc_active_plan *active)
{
	bool any;

	WRITE_ONCE(active->due, active->batch);
	any = apply_notes(active);
	if (!any) {
		WRITE_ONCE(active->due, 1);
		/* A reader that saw the old @due has written its note now. */
		synchronize_rcu();
		any = apply_notes(active);
	}
	ask_work(c, active);
	return any;
}

/* Apply notes, again and again while reads come.  Context: a work. */
void nc_plan_notes_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work), struct nc_cache, plan.notes_work);
	struct nc_active_plan *active = hold_plan(c);

	if (!active)
		return;
	if (apply_due(c, active))
		queue_delayed_work(c->workers.cache, &c->plan.notes_work, 1);
	release_plan(active);
}

/* Free all plans.  The caller ensures that no I/O is left and that the reclaim worker is idle. */
void nc_plan_destroy(struct nc_cache *c)
{
	struct nc_active_plan *active = rcu_dereference_protected(c->plan.now, true);

	drop_coming(&c->plan);
	RCU_INIT_POINTER(c->plan.now, NULL);
	if (active)
		release_plan(active);
}
