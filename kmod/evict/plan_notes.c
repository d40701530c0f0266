// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads under a plan.  Readers take no lock: a reader writes a note to the ring of its processor,
 * or adds an adjacent hit to a note that nc_note_add() holds back.  The work of this processor
 * applies the notes of the ring to the plan: at once when the ring has nc_active_plan.batch notes,
 * or else within APPLY_DELAY.  nc_plan_apply() applies the notes of all rings: before reclaim
 * selects blocks, before a report, before the stream looks ahead, and before a plan ends.  It takes
 * a part of each ring in turn, so the reads of different processors stay near their order.  A miss
 * may apply notes, too: see nc_plan_refresh().  None of these finds a note that is held back, but
 * the first hit of the block, noted before, has made the visit.  The work of its processor first
 * writes such a note to the ring.
 *
 * A note says only that a block was read, so a late or lost note moves one block in the order of
 * evictions; no data depends on it.
 */
#include "cache.h"
#include "evict/read_plan.h"

/* Jiffies after which the work of a processor applies notes that do not make a batch. */
#define APPLY_DELAY	max(1, HZ / 10)

/* nc_plan_apply() takes each ring in at most this many parts.  More parts would keep the order of
 * reads better, but take the lock more often.
 */
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
		WRITE_ONCE(active->applied, 0);
		spin_unlock(&active->lock);
	}
	return applied;
}

/* Must nc_plan_work() end the plan or find the readers' place? */
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

/* Queue the work of this processor: at once if @waiting, its number of notes, has reached
 * nc_active_plan.batch, else with a delay.  The work runs here, because the ring is in the caches
 * of this processor.  Context: preemption is disabled.
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
		queue_delayed_work_on(w->cpu, c->workers.completion, &w->work, APPLY_DELAY);
	}
}

/* Note a read for the plan in force, if any.  @ends: see nc_note_add().  Returns false if the ring
 * is full.  nc_note_add() needs preemption disabled: rcu_read_lock_sched() does that, and
 * synchronize_rcu() waits for such sections, too.
 */
static __always_inline bool write_note(struct nc_cache *c, u64 note, bool ends)
{
	struct nc_active_plan *active;
	struct nc_notes *here;
	u32 waiting = 1;

	rcu_read_lock_sched();
	active = rcu_dereference_sched(c->plan.now);
	if (active) {
		here = &active->notes[smp_processor_id()];
		waiting = nc_note_add(here, note, ends);
		/* The work writes a held note to the ring. */
		if (waiting == NC_NOTE_HELD)
			waiting = 1;
		if (unlikely(waiting >= READ_ONCE(here->due)))
			notes_due(c, active, here, waiting);
	}
	rcu_read_unlock_sched();
	return waiting;
}

/* The ring was full: apply its notes, then note the read again.  If another task has the plan's
 * lock or the plan is paused, this read may be lost, but not the hits that are held back.
 */
static noinline void write_late(struct nc_cache *c, u64 note, bool ends)
{
	struct nc_active_plan *active;

	rcu_read_lock();
	active = rcu_dereference(c->plan.now);
	if (active)
		apply_early(active);
	rcu_read_unlock();
	write_note(c, note, ends);
}

/* Note a hit within one block for the plan.  Context: process.  Usually takes no lock and writes
 * only memory of this processor.  Once per batch of notes it queues the work; if the ring is full,
 * it tries to apply the notes, and otherwise loses this note.
 */
void nc_plan_hit(struct nc_cache *c, const struct bio *bio)
{
	u64 first = bio->bi_iter.bi_sector, end = first + bio_sectors(bio);
	u32 mask = c->hot.block_mask, shift = c->hot.sub_shift;
	bool whole = !(end & ((1U << shift) - 1)) || end == c->geo.origin_size >> SECTOR_SHIFT;
	u64 note = nc_note_of(first >> c->hot.block_shift, ((u32)first & mask) >> shift,
			      ((u32)(end - 1) & mask) >> shift, whole, true);
	bool ends = !(end & mask) || end == c->geo.origin_size >> SECTOR_SHIFT;

	if (unlikely(!write_note(c, note, ends)))
		write_late(c, note, ends);
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
	bool ends = whole && (!(span_end & c->hot.block_mask) ||
			      end == c->geo.origin_size >> SECTOR_SHIFT);

	if (unlikely(!write_note(c, note, ends)))
		write_late(c, note, ends);
}

/* Apply all notes before a call of nc_plan_admits(), if this processor has @fresh notes and no
 * other task holds the plan's lock.  Context: process; no bucket lock is held.
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

/* apply_ring() holds the lock for at most this many notes. */
#define PART		64U

/* Write the held note of processor @cpu to its ring, if this task runs there.  Otherwise the
 * processor is offline, and the note stays.
 */
static void flush_held(struct nc_active_plan *active, int cpu)
{
	if (get_cpu() == cpu)
		nc_note_flush(&active->notes[cpu]);
	put_cpu();
}

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
	WRITE_ONCE(active->applied, READ_ONCE(active->applied) + applied);
	return applied;
}

/* Apply all rings if works have applied nc_belady.late notes, each of its ring, since this was done
 * last: so the notes of other processors are not later than the plan expects.
 */
static void apply_others(struct nc_active_plan *active)
{
	if (READ_ONCE(active->applied) >= active->order.late)
		nc_plan_apply(active);
}

/* Apply the notes of a processor.  Returns false if there were none: then nc_notes.due is 1, so the
 * next reader queues the work.
 */
static bool apply_due(struct nc_cache *c, struct nc_active_plan *active, int cpu)
{
	struct nc_notes *notes = &active->notes[cpu];
	u32 any;

	WRITE_ONCE(notes->due, active->batch);
	flush_held(active, cpu);
	any = apply_ring(active, notes);
	if (!any) {
		WRITE_ONCE(notes->due, 1);
		/* Each reader that loaded the old @due had written its note before the grace period
		 * ended.
		 */
		synchronize_rcu();
		flush_held(active, cpu);
		any = apply_ring(active, notes);
	}
	apply_others(active);
	ask_work(c, active);
	return any;
}

/* Apply the notes of a processor.  The work queues itself again as long as it finds notes. */
static void notes_work(struct work_struct *work)
{
	struct nc_notes_work *w = container_of(to_delayed_work(work), struct nc_notes_work, work);
	struct nc_active_plan *active = nc_plan_hold(w->c);

	if (!active)
		return;
	if (apply_due(w->c, active, w->cpu))
		queue_delayed_work_on(cpu_online(w->cpu) ? w->cpu : WORK_CPU_UNBOUND,
				      w->c->workers.completion, &w->work, APPLY_DELAY);
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

/* Stop and free the works.  The caller ensures that no read is in progress.  May sleep. */
void nc_plan_stop_works(struct nc_cache *c)
{
	int cpu;

	if (!c->plan.works)
		return;
	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&per_cpu_ptr(c->plan.works, cpu)->work);
	free_percpu(c->plan.works);
}
