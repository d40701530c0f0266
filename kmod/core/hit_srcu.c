// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits have one of two phases: the one that held when they began.  A round waits until none of the
 * other phase is left, turns, so that those that begin from now on are of that one, and waits
 * until none is left of the first.  The former are few: who has read the phase and is preempted
 * before he counts may come with it in any later round.
 *
 * Of a phase, none is under way if as many are over as have begun.  Those that are over are summed
 * up first: what is found to be over is then found to have begun, wherever that was, so that no
 * hit that has begun is taken for over because of another one that is.  Who begins too late to be
 * found sees what was done before the round, as it sees what precedes the sum: what was unlinked
 * before is not found by him.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "core/hit_srcu.h"

/* Microseconds between two looks: at first as long as a fast device needs, and in the end no more
 * often than is worth while when one hangs.
 */
#define LOOK_FIRST	50U
#define LOOK_LAST	6400U

/**
 * nc_holds_init() - nobody holds anything
 * @h: new one
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int nc_holds_init(struct nc_holds *h)
{
	h->phase = 0;
	h->rounds = kzalloc(sizeof(*h->rounds), GFP_KERNEL);
	h->counts = alloc_percpu(struct nc_hold_counts);
	if (!h->rounds || !h->counts) {
		free_percpu(h->counts);
		kfree(h->rounds);
		return -ENOMEM;
	}
	mutex_init(&h->rounds->lock);
	return 0;
}

/* Is none of a phase under way that began before this is called? */
static bool is_drained(const struct nc_holds *h, int phase)
{
	unsigned long over = 0, begun = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		over += READ_ONCE(per_cpu_ptr(h->counts, cpu)->over[phase]);
	smp_mb(); /* Pairs with those of nc_holds_take() and nc_holds_give(). */
	for_each_possible_cpu(cpu)
		begun += READ_ONCE(per_cpu_ptr(h->counts, cpu)->begun[phase]);
	return begun == over;
}

/**
 * nc_holds_destroy() - it is not used any more
 * @h: nobody holds anything
 */
void nc_holds_destroy(struct nc_holds *h)
{
	/* Rather lose it than let a late one write to what is somebody else's. */
	if (WARN_ON(!is_drained(h, 0) || !is_drained(h, 1)))
		return;
	free_percpu(h->counts);
	kfree(h->rounds);
}

/* The round that goes on, or the next one, as far as it can.  Returns whether it is over. */
static bool go_on(struct nc_holds *h)
{
	struct nc_rounds *rounds = h->rounds;

	lockdep_assert_held(&rounds->lock);
	if (!rounds->turned) {
		if (!is_drained(h, !h->phase))
			return false;
		/* Who sees the new phase comes after what was counted of it until now. */
		smp_mb();
		WRITE_ONCE(h->phase, !h->phase);
		/* And who is not counted below has seen it, or will, before he begins again. */
		smp_mb();
		rounds->turned = true;
	}
	if (!is_drained(h, !h->phase))
		return false;
	rounds->turned = false;
	rounds->over++;
	return true;
}

/**
 * nc_holds_begin() - which hits are under way?
 * @h: hits
 *
 * Context: may sleep.
 * Return: the round after which all are over that are now; for nc_holds_over().
 */
u64 nc_holds_begin(struct nc_holds *h)
{
	u64 round;

	smp_mb(); /* What was done before is done for those that are not waited for. */
	mutex_lock(&h->rounds->lock);
	/* One that has turned does not wait for those that began since. */
	round = h->rounds->over + 1 + h->rounds->turned;
	go_on(h);
	mutex_unlock(&h->rounds->lock);
	return round;
}

/**
 * nc_holds_over() - are they over?
 * @h: hits
 * @round: from nc_holds_begin()
 *
 * Context: may sleep. Asked seldom, it says so later than it is so.
 */
bool nc_holds_over(struct nc_holds *h, u64 round)
{
	bool over;

	mutex_lock(&h->rounds->lock);
	while (h->rounds->over < round && go_on(h))
		;
	over = h->rounds->over >= round;
	mutex_unlock(&h->rounds->lock);
	smp_mb(); /* What they read is read before what is done next. */
	return over;
}

/**
 * nc_holds_wait() - wait until all hits are over that are under way
 * @h: hits
 *
 * Context: may sleep; for as long as the cache device hangs.
 */
void nc_holds_wait(struct nc_holds *h)
{
	u64 round = nc_holds_begin(h);
	u32 look = LOOK_FIRST;

	for (; !nc_holds_over(h, round); look = min(2 * look, LOOK_LAST))
		usleep_range(look, 2 * look);
}
