// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two-phase reader counters, as in SRCU.  A hit increments the counter of the current phase.  A
 * round drains the idle phase, flips the phase, then drains the old one.  A few hits may count in
 * the idle phase: their task was preempted between the load of the phase and the increment.
 *
 * A phase is drained if its "over" sum equals its "begun" sum.  The "over" counters are summed
 * before the "begun" counters: each hit whose end is counted also has its begin counted, on
 * whichever CPU, so no finished hit hides a hit in flight.  A hit that begins too late for the
 * "begun" sum sees all stores before the round, because they precede the sum: that hit cannot find
 * a slot that was unlinked before the round.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/slab.h>

#include "core/hit_srcu.h"

/* Microseconds of the first wait of nc_hit_synchronize(): about the latency of a fast device. */
#define LOOK_FIRST	50U

/* May sleep.  Return: 0; -ENOMEM, with nothing left to destroy. */
int nc_hit_srcu_init(struct nc_hit_srcu *h)
{
	h->phase = 0;
	h->rounds = kzalloc(sizeof(*h->rounds), GFP_KERNEL);
	h->counts = alloc_percpu(struct nc_hit_counts);
	if (!h->rounds || !h->counts) {
		free_percpu(h->counts);
		kfree(h->rounds);
		return -ENOMEM;
	}
	mutex_init(&h->rounds->lock);
	return 0;
}

/* Have all hits of a phase completed that began before this call? */
static bool is_drained(const struct nc_hit_srcu *h, int phase)
{
	unsigned long over = 0, begun = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		over += READ_ONCE(per_cpu_ptr(h->counts, cpu)->over[phase]);
	smp_mb(); /* Pairs with the barriers in nc_hit_lock() and nc_hit_unlock(). */
	for_each_possible_cpu(cpu)
		begun += READ_ONCE(per_cpu_ptr(h->counts, cpu)->begun[phase]);
	return begun == over;
}

/* Free the counters.  No hit may be in flight. */
void nc_hit_srcu_destroy(struct nc_hit_srcu *h)
{
	/* Leak the memory rather than let a late hit write to a new owner's memory. */
	if (WARN_ON(!is_drained(h, 0) || !is_drained(h, 1)))
		return;
	free_percpu(h->counts);
	kfree(h->rounds);
}

/* Advance the round as far as its hits allow.  Returns true if the round is now complete. */
static bool round_advance(struct nc_hit_srcu *h)
{
	struct nc_rounds *rounds = h->rounds;

	lockdep_assert_held(&rounds->lock);
	if (!rounds->turned) {
		if (!is_drained(h, !h->phase))
			return false;
		/* Drain, then flip: a hit that sees the new phase begins after the sums above. */
		smp_mb();
		WRITE_ONCE(h->phase, !h->phase);
		/* Flip, then sum: if the sums miss a task's hit, its next hit has the new phase. */
		smp_mb();
		rounds->turned = true;
	}
	if (!is_drained(h, !h->phase))
		return false;
	rounds->turned = false;
	rounds->over++;
	return true;
}

/* Returns the number of the round that completes once all hits now in flight are complete; pass it
 * to nc_hit_poll().  May sleep.
 */
u64 nc_hit_start_poll(struct nc_hit_srcu *h)
{
	u64 round;

	smp_mb(); /* A hit that the round does not wait for sees the caller's earlier stores. */
	mutex_lock(&h->rounds->lock);
	/* A round that has flipped does not wait for later hits: return the round after it. */
	round = h->rounds->over + 1 + h->rounds->turned;
	round_advance(h);
	mutex_unlock(&h->rounds->lock);
	return round;
}

/* Has the @round from nc_hit_start_poll() completed?  May sleep.  Rounds advance only when they are
 * started or polled, so a caller that polls rarely gets true late.
 */
bool nc_hit_poll(struct nc_hit_srcu *h, u64 round)
{
	bool over;

	mutex_lock(&h->rounds->lock);
	while (h->rounds->over < round && round_advance(h))
		;
	over = h->rounds->over >= round;
	mutex_unlock(&h->rounds->lock);
	smp_mb(); /* Order the accesses of completed hits before those of the caller. */
	return over;
}

/* Wait for all hits in flight, until one wait between two polls took @longest microseconds: about
 * twice as long in total.  Returns false if hits are still in flight then.  May sleep.
 */
bool nc_hit_synchronize(struct nc_hit_srcu *h, u32 longest)
{
	u64 round = nc_hit_start_poll(h);
	u32 look;

	for (look = LOOK_FIRST; !nc_hit_poll(h, round); look *= 2) {
		if (look > longest)
			return false;
		usleep_range(look, 2 * look);
	}
	return true;
}

/* Is no hit in flight in the part of the index that has the blocks with this nc_index_hash()?  If
 * so, each later hit in the part sees all stores before this call.  One moment without hits proves
 * this, so there is no phase; but a busy part may have no such moment for long.
 */
bool nc_hit_part_idle(const struct nc_hit_srcu *h, u32 hash)
{
	u32 part = nc_hit_part(hash), over = 0, begun = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		over += READ_ONCE(per_cpu_ptr(h->counts, cpu)->part[part].over);
	smp_mb(); /* As in is_drained(). */
	for_each_possible_cpu(cpu)
		begun += READ_ONCE(per_cpu_ptr(h->counts, cpu)->part[part].begun);
	smp_mb(); /* Order the accesses of completed hits before those of the caller. */
	return begun == over;
}
