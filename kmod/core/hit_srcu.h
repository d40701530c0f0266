/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hit sections: a hit is in a section from look-up to completion.  A round is a grace period: at
 * its end, all hits that began before it are complete.
 *
 * A round does not end while the task of one reader gets no processor, or one hit hangs in the
 * device.  So hits are counted a second time, by the part of the index that has their block: a part
 * without hits is proven free of readers although the round does not end (nc_hit_part_idle()).
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

/* Number of parts of the index; a power of two.  N readers that are stopped in their hit sections
 * keep at most N of these parts from being evicted.
 */
#define NC_HIT_PARTS	256U

/**
 * struct nc_hit_counts - per-CPU counters; they only grow, and may wrap
 * @begun: number of hit sections that began on this CPU, by phase
 * @over: number of hit sections that ended on this CPU, by phase
 * @part: the same numbers by part of the index
 */
struct nc_hit_counts {
	unsigned long begun[2];
	unsigned long over[2];
	struct {
		u32 begun;
		u32 over;
	} part[NC_HIT_PARTS];
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
bool nc_hit_synchronize(struct nc_hit_srcu *h, u32 longest);
bool nc_hit_part_idle(const struct nc_hit_srcu *h, u32 hash);

/* Part of the index that has the blocks with this nc_index_hash(): a whole number of chains, so a
 * look-up stays in it.
 */
static inline u32 nc_hit_part(u32 hash)
{
	return hash % NC_HIT_PARTS;
}

/* Enter a hit section, to look up a block with this nc_index_hash().  Returns a value for
 * nc_hit_unlock(), which may run on another CPU and in an interrupt.  A slot looked up after this
 * call is not reused before nc_hit_unlock().
 */
static inline int nc_hit_lock(struct nc_hit_srcu *h, u32 hash)
{
	int phase = READ_ONCE(h->phase);
	u32 part = nc_hit_part(hash);

	this_cpu_inc(h->counts->begun[phase]);
	this_cpu_inc(h->counts->part[part].begun);
	smp_mb(); /* Pairs with the barriers in is_drained() and nc_hit_part_idle(). */
	return phase | part << 1;
}

/* Leave a hit section. */
static inline void nc_hit_unlock(struct nc_hit_srcu *h, int hold)
{
	smp_mb(); /* Pairs with the barriers in is_drained() and nc_hit_part_idle(). */
	this_cpu_inc(h->counts->part[hold >> 1].over);
	this_cpu_inc(h->counts->over[hold & 1]);
}

#endif /* NEARCACHE_CORE_HIT_SRCU_H */
