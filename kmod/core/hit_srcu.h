/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hit sections: a hit is in a section from look-up to completion.  A round is a grace period: at
 * its end, all hits that began before it are complete.
 *
 * The counters and barriers are those of SRCU; only the wait differs.  SRCU busy-waits, which takes
 * the CPU from a reader preempted in its section, or polls once per timer tick, which is long for
 * hits of a tenth of a millisecond.
 */
#ifndef NEARCACHE_CORE_HIT_SRCU_H
#define NEARCACHE_CORE_HIT_SRCU_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>

/**
 * struct nc_hit_counts - per-CPU counters, by phase; they only grow, and may wrap
 * @begun: number of hit sections that began on this CPU
 * @over: number of hit sections that ended on this CPU
 */
struct nc_hit_counts {
	unsigned long begun[2];
	unsigned long over[2];
} __aligned(4 * sizeof(unsigned long));

/**
 * struct nc_rounds - state of the rounds, for tasks that wait; hits do not touch it
 * @lock: protects the members below
 * @turned: the current round has flipped the phase
 * @over: number of completed rounds
 */
struct nc_rounds {
	struct mutex lock;	/* protects the members below */
	bool turned;
	u64 over;
};

/**
 * struct nc_hit_srcu - hit sections of a cache
 * @counts: per-CPU counters; the only data that a hit writes
 * @phase: phase of hits that begin now, 0 or 1; changed under nc_rounds.lock, read without it
 * @rounds: state of the rounds
 */
struct nc_hit_srcu {
	struct nc_hit_counts __percpu *counts;
	int phase;
	struct nc_rounds *rounds;
};

int nc_hit_srcu_init(struct nc_hit_srcu *h);
void nc_hit_srcu_destroy(struct nc_hit_srcu *h);
u64 nc_hit_start_poll(struct nc_hit_srcu *h);
bool nc_hit_poll(struct nc_hit_srcu *h, u64 round);
void nc_hit_synchronize(struct nc_hit_srcu *h);

/* Enter a hit section.  Returns the phase for nc_hit_unlock(), which may run on another CPU and in
 * an interrupt.  A slot looked up after this call is not reused before nc_hit_unlock().
 */
static inline int nc_hit_lock(struct nc_hit_srcu *h)
{
	int phase = READ_ONCE(h->phase);

	this_cpu_inc(h->counts->begun[phase]);
	smp_mb(); /* Pairs with the barrier in is_drained(). */
	return phase;
}

/* Leave a hit section. */
static inline void nc_hit_unlock(struct nc_hit_srcu *h, int phase)
{
	smp_mb(); /* Pairs with the barrier in is_drained(). */
	this_cpu_inc(h->counts->over[phase]);
}

#endif /* NEARCACHE_CORE_HIT_SRCU_H */
