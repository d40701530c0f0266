// SPDX-License-Identifier: GPL-2.0-only
/*
 * The schedule of MIN: a simulation that finds the visits which hit under MIN.  So the blocks that
 * MIN will evict before their next visit are known in advance.  After its latest read the slot of
 * such a block is spare: a stream can bring other data into it long before MIN would use the slot.
 * Without the schedule, all misses of a reshuffled epoch would come at its end, because MIN evicts
 * the blocks that are needed last.
 */
#include <linux/bitmap.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "evict/belady.h"

/* Set the bits of the next visits of all cached blocks in @held.  Returns their number. */
static u32 take_cached(const struct nc_belady *plan, struct nc_bittree *held)
{
	u32 i, next, count = 0;

	for (i = 0; i < plan->blocks.size; i++) {
		if (!(i % 4096))
			cond_resched();
		next = READ_ONCE(plan->blocks.entry[i].next);
		if (next < plan->figures.visits && nc_bittree_test(&plan->far, next)) {
			nc_bittree_set(held, next);
			count++;
		}
	}
	return count;
}

/**
 * nc_belady_schedule() - compute nc_belady.absent for the visits from the readers' position on
 * @plan: plan, which knows all cached blocks
 * @most: number of slots of the cache that reclaim does not keep free
 * @stop: set by another task to end the call early
 *
 * Other calls may change the plan meanwhile, and blocks outside of the plan may take slots: the
 * result is a hint.
 *
 * Context: may sleep; takes up to two seconds; one call at a time.
 * Return: 0; -ENOMEM: the schedule is unchanged; -EINTR: stopped.
 */
int nc_belady_schedule(struct nc_belady *plan, u32 most, const bool *stop)
{
	u32 visits = plan->figures.visits, v = READ_ONCE(plan->figures.position), used, next, far;
	struct nc_bittree held = { };

	if (nc_bittree_init(&held, visits)) {
		nc_bittree_destroy(&held);
		return -ENOMEM;
	}
	for (used = take_cached(plan, &held); used > most; used--)
		nc_bittree_clear(&held, nc_bittree_last(&held, visits));
	for (; v < visits; v++) {
		bool found = nc_bittree_test(&held, v);

		if (!(v % 4096)) {
			if (READ_ONCE(*stop))
				break;
			cond_resched();
		}
		if (READ_ONCE(plan->done[v / 64]) >> v % 64 & 1) {
			/* It was made since take_cached(). */
			used -= found;
			nc_bittree_clear(&held, v);
			continue;
		}
		assign_bit(v, plan->absent, !found);
		if (found) {
			nc_bittree_clear(&held, v);
			used--;
		}
		next = plan->after[v];
		if (next == NC_BELADY_NONE)
			continue;
		if (used < most) {
			used++;
		} else {
			far = nc_bittree_last(&held, visits);
			if (far == NC_BITTREE_NONE || far <= next)
				continue;
			nc_bittree_clear(&held, far);
		}
		nc_bittree_set(&held, next);
	}
	nc_bittree_destroy(&held);
	return v < visits ? -EINTR : 0;
}
