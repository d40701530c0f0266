// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads under a plan.  Readers take no lock.  Each processor notes its reads in a ring, and its own
 * work applies the notes to the plan: soon after the ring is half full, or else within two ticks of
 * the timer.  Notes are also applied before reclaim chooses blocks, before a report, and before a
 * plan ends; then part of each ring is applied in turn, so that reads stay near their order.
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
		applied += nc_notes_take(&active->notes[cpu], parts, &active->order);
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
		most = max(most, nc_notes_waiting(&active->notes[cpu]));
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

/* @waiting notes of this processor are due: queue the work that applies them, on this processor, so
 * that the ring stays in its caches.  Context: preemption is disabled.
 */
static noinline void notes_due(struct nc_cache *c, const struct nc_active_plan *active,
			       struct nc_notes *here, u32 waiting)
{
	struct nc_notes_work *w = this_cpu_ptr(c->plan.works);

	if (waiting >= active->batch) {
		WRITE_ONCE(here->due, NC_NOTES + 1);
		mod_delayed_work_on(w->cpu, c->workers.completion, &w->work, 0);
	} else {
		WRITE_ONCE(here->due, active->batch);
		queue_delayed_work_on(w->cpu, c->workers.completion, &w->work, 1);
	}
}

/* Write a note for the plan in force, if any.  Returns false if the ring is full.  Disabled
 * preemption is an RCU section as well.
 */
static __always_inline bool write_note(struct nc_cache *c, u64 note)
{
	struct nc_active_plan *active;
	struct nc_notes *here;
	u32 waiting = 1;

	rcu_read_lock_sched();
	active = rcu_dereference_sched(c->plan.now);
	if (active) {
		here = &active->notes[smp_processor_id()];
		waiting = nc_note_write(here, note);
		if (unlikely(waiting >= READ_ONCE(here->due)))
			notes_due(c, active, here, waiting);
	}
	rcu_read_unlock_sched();
	return waiting;
}

/* The ring is full: apply notes here, and write the note now, or lose it if another task is
 * applying notes.
 */
static noinline void write_late(struct nc_cache *c, u64 note)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active)
		apply_early(active);
	rcu_read_unlock();
	write_note(c, note);
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
	u64 note = nc_note_of(first >> c->hot.block_shift, ((u32)first & mask) >> shift,
			      ((u32)(end - 1) & mask) >> shift, whole, true);

	if (unlikely(!write_note(c, note)))
		write_late(c, note);
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
	u64 note = nc_note_of(span->block, span->first, span->last, whole, hit);

	if (unlikely(!write_note(c, note)))
		write_late(c, note);
}

/* Bring the plan up to date before nc_plan_admits() is called, unless another task does it or this
 * processor has few notes.  Context: process; no bucket lock is held.
 */
void nc_plan_refresh(struct nc_cache *c)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active && nc_notes_waiting(&active->notes[raw_smp_processor_id()]) >= active->fresh)
		apply_early(active);
	rcu_read_unlock();
}

/* Most notes of a ring that are applied at a time under the lock. */
#define PART		64U

/* Apply the notes of one ring.  Returns their number. */
static u32 apply_ring(struct nc_active_plan *active, struct nc_notes *notes)
{
	u32 parts = DIV_ROUND_UP(nc_notes_waiting(notes), PART), applied = 0;

	for (; parts; parts--) {
		spin_lock(&active->lock);
		if (!active->paused)
			applied += nc_notes_take(notes, parts, &active->order);
		spin_unlock(&active->lock);
	}
	return applied;
}

/* Apply the notes of one ring.  Returns false if there were none: then a reader must queue the work
 * again.
 */
static bool apply_due(struct nc_cache *c, struct nc_active_plan *active, struct nc_notes *notes)
{
	bool any;

	WRITE_ONCE(notes->due, active->batch);
	any = apply_ring(active, notes);
	if (!any) {
		WRITE_ONCE(notes->due, 1);
		/* A reader that saw the old @due has written its note now. */
		synchronize_rcu();
		any = apply_ring(active, notes);
	}
	ask_work(c, active);
	return any;
}

/* Apply the notes of a processor, again and again while reads come. */
static void notes_work(struct work_struct *work)
{
	struct nc_notes_work *w = container_of(to_delayed_work(work), struct nc_notes_work, work);
	struct nc_active_plan *active = nc_plan_hold(w->c);

	if (!active)
		return;
	if (apply_due(w->c, active, &active->notes[w->cpu]))
		queue_delayed_work_on(cpu_online(w->cpu) ? w->cpu : WORK_CPU_UNBOUND,
				      w->c->workers.completion, &w->work, 1);
	nc_plan_release(active);
}

/* Allocate the works of a cache.  Returns 0 or -ENOMEM. */
int nc_plan_alloc_works(struct nc_cache *c)
{
	struct nc_notes_work *w;
	int cpu;

	c->plan.works = alloc_percpu(struct nc_notes_work);
	if (!c->plan.works)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		w = per_cpu_ptr(c->plan.works, cpu);
		INIT_DELAYED_WORK(&w->work, notes_work);
		w->c = c;
		w->cpu = cpu;
	}
	return 0;
}

/* Stop and free the works.  No reader is left.  May sleep. */
void nc_plan_stop_works(struct nc_cache *c)
{
	int cpu;

	if (!c->plan.works)
		return;
	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&per_cpu_ptr(c->plan.works, cpu)->work);
	free_percpu(c->plan.works);
}
