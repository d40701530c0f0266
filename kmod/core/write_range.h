/* SPDX-License-Identifier: GPL-2.0-only */
/* Write ranges: origin sectors that a write, discard, write-zeroes or invalidation is changing. */
#ifndef NEARCACHE_CORE_WRITE_RANGE_H
#define NEARCACHE_CORE_WRITE_RANGE_H

#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct nc_write_range - sectors of one write in flight
 * @rb: node of nc_write_ranges.root
 * @first: first sector
 * @last: last sector, inclusive
 * @subtree_last: highest @last below @rb
 *
 * @first and @last are constant while the range is in the tree.
 */
struct nc_write_range {
	struct rb_node rb;
	u64 first;
	u64 last;
	u64 subtree_last;
};

/**
 * struct nc_write_ranges - all write ranges of a cache
 * @lock: protects the tree; innermost, taken in any context
 * @root: interval tree of struct nc_write_range
 */
struct nc_write_ranges {
	spinlock_t lock;	/* protects the tree */
	struct rb_root_cached root;
};

void nc_write_ranges_init(struct nc_write_ranges *in);
void nc_write_range_add(struct nc_write_ranges *in, struct nc_write_range *range);
void nc_write_range_remove(struct nc_write_ranges *in, struct nc_write_range *range);
bool nc_write_range_first(struct nc_write_ranges *in, u64 first, u64 last, u64 *found);
bool nc_write_range_alone(struct nc_write_ranges *in, const struct nc_write_range *range,
			  u64 first, u64 last);

static inline bool nc_write_ranges_empty(const struct nc_write_ranges *in)
{
	return !READ_ONCE(in->root.rb_root.rb_node);
}

#endif /* NEARCACHE_CORE_WRITE_RANGE_H */
