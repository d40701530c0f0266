// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes in flight.  A range enters a tree before the first valid bit that it overlaps is cleared
 * and leaves it once the origin has completed the write.  So either a fill that starts under the
 * bucket lock sees the range, or the writer sees the fill.  See doc/writing.md.
 *
 * There are many trees, so that writers to different regions rarely share a lock.  A range within
 * one region is in the tree to which the region hashes.  A range that crosses a border of regions
 * is in one further tree.  A block lies within a region, so its ranges are in two trees.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/interval_tree_generic.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include "core/write_range.h"
#include "nearcache_format.h"

#define FIRST(range)	((range)->first)
#define LAST(range)	((range)->last)

INTERVAL_TREE_DEFINE(struct nc_write_range, rb, u64, subtree_last, FIRST, LAST,
		     static, range)

static_assert(NEARCACHE_BLOCK_MAX <= 512U << NC_WRITE_REGION_SHIFT);

static struct nc_write_tree *region_tree(struct nc_write_ranges *in, u64 region)
{
	return &in->within[hash_64(region, ilog2(NC_WRITE_TREES))];
}

static struct nc_write_tree *range_tree(struct nc_write_ranges *in,
					const struct nc_write_range *range)
{
	u64 region = range->first >> NC_WRITE_REGION_SHIFT;

	return region == range->last >> NC_WRITE_REGION_SHIFT ? region_tree(in, region) :
								&in->across;
}

static void tree_init(struct nc_write_tree *tree)
{
	spin_lock_init(&tree->lock);
	tree->root = RB_ROOT_CACHED;
}

static bool tree_is_empty(const struct nc_write_tree *tree)
{
	return !READ_ONCE(tree->root.rb_root.rb_node);
}

void nc_write_ranges_init(struct nc_write_ranges *in)
{
	u32 i;

	for (i = 0; i < NC_WRITE_TREES; i++)
		tree_init(&in->within[i]);
	tree_init(&in->across);
}

/* Is no write in flight?  The caller makes sure that none begins. */
bool nc_write_ranges_empty(const struct nc_write_ranges *in)
{
	u32 i;

	for (i = 0; i < NC_WRITE_TREES; i++)
		if (!tree_is_empty(&in->within[i]))
			return false;
	return tree_is_empty(&in->across);
}

/* Add a range with @first and @last set; the struct must not move until removed.  Any context. */
void nc_write_range_add(struct nc_write_ranges *in, struct nc_write_range *range)
{
	struct nc_write_tree *tree = range_tree(in, range);
	unsigned long flags;

	spin_lock_irqsave(&tree->lock, flags);
	range_insert(range, &tree->root);
	spin_unlock_irqrestore(&tree->lock, flags);
}

/* Remove a range when the origin has completed its write.  Any context. */
void nc_write_range_remove(struct nc_write_ranges *in, struct nc_write_range *range)
{
	struct nc_write_tree *tree = range_tree(in, range);
	unsigned long flags;

	spin_lock_irqsave(&tree->lock, flags);
	range_remove(range, &tree->root);
	spin_unlock_irqrestore(&tree->lock, flags);
}

/* If @tree has a sector from @first to @last that is lower than *found, set *found to it. */
static void tree_first(struct nc_write_tree *tree, u64 first, u64 last, u64 *found)
{
	struct nc_write_range *range;
	unsigned long flags;

	/* Often no write is in flight.  If this check without the lock misses a range, its writer
	 * has yet to take the bucket lock of the caller of nc_write_range_first().
	 */
	if (tree_is_empty(tree))
		return;
	spin_lock_irqsave(&tree->lock, flags);
	range = range_iter_first(&tree->root, first, last);
	if (range)
		*found = min(*found, max(range->first, first));
	spin_unlock_irqrestore(&tree->lock, flags);
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
	u64 region = first >> NC_WRITE_REGION_SHIFT, end = last >> NC_WRITE_REGION_SHIFT;
	u32 i;

	*found = U64_MAX;
	tree_first(&in->across, first, last, found);
	if (end - region < NC_WRITE_TREES)
		for (; region <= end; region++)
			tree_first(region_tree(in, region), first, last, found);
	else
		for (i = 0; i < NC_WRITE_TREES; i++)
			tree_first(&in->within[i], first, last, found);
	return *found != U64_MAX;
}

/* Does a range of @tree other than @own overlap the sectors from @first to @last? */
static bool tree_has_other(struct nc_write_tree *tree, const struct nc_write_range *own, u64 first,
			   u64 last)
{
	struct nc_write_range *other;
	unsigned long flags;

	if (tree_is_empty(tree))
		return false;
	spin_lock_irqsave(&tree->lock, flags);
	other = range_iter_first(&tree->root, first, last);
	if (other == own)
		other = range_iter_next(other, first, last);
	spin_unlock_irqrestore(&tree->lock, flags);
	return other;
}

/* Is @range the only write range with any of these sectors?  They lie in one block, whose bucket
 * lock the caller holds.
 */
bool nc_write_range_alone(struct nc_write_ranges *in, const struct nc_write_range *range,
			  u64 first, u64 last)
{
	struct nc_write_tree *within = region_tree(in, first >> NC_WRITE_REGION_SHIFT);

	return !tree_has_other(within, range, first, last) &&
	       !tree_has_other(&in->across, range, first, last);
}
