// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes in flight.  A range is in the tree before the first valid bit that it
 * overlaps is cleared, and until the origin is done with it: whoever starts to
 * copy the origin's data under the block's stripe lock either sees the range or
 * is seen by it.  See doc/writing.md.
 */
#include <linux/interval_tree_generic.h>

#include "core/write_range.h"

#define FIRST(range)	((range)->first)
#define LAST(range)	((range)->last)

INTERVAL_TREE_DEFINE(struct nc_range, rb, u64, subtree_last, FIRST, LAST,
		     static, range)

void nc_inflight_init(struct nc_inflight *in)
{
	spin_lock_init(&in->lock);
	in->root = RB_ROOT_CACHED;
}

/**
 * nc_inflight_add() - sectors are about to be changed
 * @in: all ranges
 * @range: first and last are set; stays where it is until removed
 *
 * Context: any.
 */
void nc_inflight_add(struct nc_inflight *in, struct nc_range *range)
{
	unsigned long flags;

	spin_lock_irqsave(&in->lock, flags);
	range_insert(range, &in->root);
	spin_unlock_irqrestore(&in->lock, flags);
}

/**
 * nc_inflight_remove() - the origin is done with the sectors
 * @in: all ranges
 * @range: in the tree
 *
 * Context: any.
 */
void nc_inflight_remove(struct nc_inflight *in, struct nc_range *range)
{
	unsigned long flags;

	spin_lock_irqsave(&in->lock, flags);
	range_remove(range, &in->root);
	spin_unlock_irqrestore(&in->lock, flags);
}

/**
 * nc_inflight_first() - the first sector that is being changed
 * @in: all ranges
 * @first: first sector to look at
 * @last: last sector to look at
 * @found: filled in when there is one
 *
 * Context: the stripe lock of the block that holds the sectors: a range that
 * comes later will find what the caller puts on the stripe's list.
 * Return: whether there is one.
 */
bool nc_inflight_first(struct nc_inflight *in, u64 first, u64 last, u64 *found)
{
	struct nc_range *range;
	unsigned long flags;

	/* Nobody writes: a range that this does not see did not yet come to
	 * the caller's stripe.
	 */
	if (nc_inflight_empty(in))
		return false;
	spin_lock_irqsave(&in->lock, flags);
	range = range_iter_first(&in->root, first, last);
	if (range)
		*found = max(range->first, first);
	spin_unlock_irqrestore(&in->lock, flags);
	return range;
}

/**
 * nc_inflight_alone() - is nobody else changing these sectors?
 * @in: all ranges
 * @range: the caller's own
 * @first: first sector
 * @last: last sector
 *
 * Context: as nc_inflight_first().
 */
bool nc_inflight_alone(struct nc_inflight *in, const struct nc_range *range,
		       u64 first, u64 last)
{
	struct nc_range *other;
	unsigned long flags;

	spin_lock_irqsave(&in->lock, flags);
	other = range_iter_first(&in->root, first, last);
	if (other == range)
		other = range_iter_next(other, first, last);
	spin_unlock_irqrestore(&in->lock, flags);
	return !other;
}
