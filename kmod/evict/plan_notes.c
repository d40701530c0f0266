// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads under a plan.  Readers take no lock.  Each processor notes its reads in a ring, and a work
 * applies the notes to the plan: soon after a ring is half full, or else within two ticks of the
 * timer.  Notes are also applied before reclaim chooses blocks, before a report, and before a plan
 * ends.  Of rings with many notes, part of each is applied in turn, so that reads stay near their
 * order.
 *
 * A note says only that a block was read, so a late or lost note moves one block in the order of
 * evictions; no data depends on it.
 */
#include "cache.h"
#include "evict/read_plan.h"

/* Most parts of a call of nc_plan_apply().  More would keep the order of reads better. */
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
u32 nc_plan_apply(struct nc_active_plan *active)
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
void nc_plan_apply_now(struct nc_cache *c)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active) {
		nc_plan_apply(active);
		ask_work(c, active);
	}
	rcu_read_unlock();
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

/* Apply the notes of all processors.  Returns false if there were none: then readers must queue the
 * work again.
 */
static bool apply_due(struct nc_cache *c, struct nc_active_plan *active)
{
	bool any;

	WRITE_ONCE(active->due, active->batch);
	any = nc_plan_apply(active);
	if (!any) {
		WRITE_ONCE(active->due, 1);
		/* A reader that saw the old @due has written its note now. */
		synchronize_rcu();
		any = nc_plan_apply(active);
	}
	ask_work(c, active);
	return any;
}

/* Apply notes, again and again while reads come.  Context: a work. */
void nc_plan_notes_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work), struct nc_cache, plan.notes_work);
	struct nc_active_plan *active = nc_plan_hold(c);

	if (!active)
		return;
	if (apply_due(c, active))
		queue_delayed_work(c->workers.cache, &c->plan.notes_work, 1);
	nc_plan_release(active);
}
