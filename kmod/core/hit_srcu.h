/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hits that are under way, and rounds: after one, all hits are over that had begun before it.
 *
 * It is what SRCU does, with its counters and barriers, but for how it is waited for.  SRCU asks
 * over and over without sleeping, and keeps the very processor from who was preempted in the midst
 * of a hit; or from one tick of the clock to the next.  A hit takes a tenth of a millisecond.
 */
#ifndef NEARCACHE_CORE_HIT_SRCU_H
#define NEARCACHE_CORE_HIT_SRCU_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>

/**
 * struct nc_hold_counts - of a processor; each only grows, and may wrap
 * @begun: hits that began there, by phase
 * @over: hits whose end was seen there
 */
struct nc_hold_counts {
	unsigned long begun[2];
	unsigned long over[2];
} __aligned(4 * sizeof(unsigned long));

/**
 * struct nc_rounds - rounds: not what hits look at
 * @lock: protects what follows
 * @turned: the phase was changed in the round that goes on
 * @over: how many are over
 */
struct nc_rounds {
	struct mutex lock;	/* see above */
	bool turned;
	u64 over;
};

/**
 * struct nc_holds - hits under way
 * @counts: of each processor; who holds writes nothing else
 * @phase: of hits that begin now, 0 or 1; changed under nc_rounds.lock, read without
 * @rounds: see there
 */
struct nc_holds {
	struct nc_hold_counts __percpu *counts;
	int phase;
	struct nc_rounds *rounds;
};

int nc_holds_init(struct nc_holds *h);
void nc_holds_destroy(struct nc_holds *h);
u64 nc_holds_begin(struct nc_holds *h);
bool nc_holds_over(struct nc_holds *h, u64 round);
void nc_holds_wait(struct nc_holds *h);

/* A hit begins.  Returns its phase, for nc_holds_give(), which may be called on another processor,
 * and in an interrupt.  What is looked up from here on is not given away until then.
 */
static inline int nc_holds_take(struct nc_holds *h)
{
	int phase = READ_ONCE(h->phase);

	this_cpu_inc(h->counts->begun[phase]);
	smp_mb(); /* Pairs with the one of is_drained(). */
	return phase;
}

/* It is over. */
static inline void nc_holds_give(struct nc_holds *h, int phase)
{
	smp_mb(); /* Pairs with the one of is_drained(). */
	this_cpu_inc(h->counts->over[phase]);
}

#endif /* NEARCACHE_CORE_HIT_SRCU_H */
