// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes in flight.  A range enters the tree before the first valid bit that it overlaps is cleared
 * and leaves it once the origin has completed the write.  So either a fill that starts under the
 * bucket lock sees the range, or the writer sees the fill.  See doc/writing.md.
 */
#include <linux/interval_tree_generic.h>

#include "core/write_range.h"

#define FIRST(range)	((range)->first)
#define LAST(range)	((range)->last)

INTERVAL_TREE_DEFINE(struct nc_write_range, rb, u64, subtree_last, FIRST, LAST,
		     static, range)

void nc_write_ranges_init(struct nc_write_ranges *in)
{
	spin_lock_init(&in->lock);
	in->root = RB_ROOT_CACHED;
}

/* Add a range with @first and @last set; the struct must not move until removed.  Any context. */
void nc_write_range_add(struct nc_write_ranges *in, struct nc_write_range *range)
{
	unsigned long flags;

	spin_lock_irqsave(&in->lock, flags);
	range_insert(range, &in->root);
	spin_unlock_irqrestore(&in->lock, flags);
}

/* Remove a range when the origin has completed its write.  Any context. */
void nc_write_range_remove(struct nc_write_ranges *in, struct nc_write_range *range)
{
	unsigned long flags;

	spin_lock_irqsave(&in->lock, flags);
	range_remove(range, &in->root);
	spin_unlock_irqrestore(&in->lock, flags);
}

/**
 * nc_write_range_first() - find the first sector from @first to @last that is being changed
 * @in: all ranges
 * @first: first sector to look at
 * @last: last sector to look at
 * @found: set to the sector if the return value is true
 *
 * Context: a caller that starts a fill holds the bucket lock of the sectors' block, so the writer
 * of a range that is added later finds the fill.  write_intent_clear.c relies on barriers instead.
 * Return: whether a range has any of the sectors.
 */
bool nc_write_range_first(struct nc_write_ranges *in, u64 first, u64 last, u64 *found)
{
	struct nc_write_range *range;
	unsigned long flags;

	/* Often no write is in flight.  If this check without the lock misses a range, its writer
	 * has yet to take the caller's bucket lock.
	 */
	if (nc_write_ranges_empty(in))
		return false;
	spin_lock_irqsave(&in->lock, flags);
	range = range_iter_first(&in->root, first, last);
	if (range)
		*found = max(range->first, first);
	spin_unlock_irqrestore(&in->lock, flags);
	return range;
}

/* Is @range the only write range with any of these sectors?  The caller holds the bucket lock. */
bool nc_write_range_alone(struct nc_write_ranges *in, const struct nc_write_range *range,
			  u64 first, u64 last)
{
	struct nc_write_range *other;
	unsigned long flags;

	spin_lock_irqsave(&in->lock, flags);
	other = range_iter_first(&in->root, first, last);
	if (other == range)
		other = range_iter_next(other, first, last);
	spin_unlock_irqrestore(&in->lock, flags);
	return !other;
}
