/* SPDX-License-Identifier: GPL-2.0-only */
/* Write ranges: origin sectors that a write, discard, write-zeroes or invalidation is changing. */
#ifndef NEARCACHE_CORE_WRITE_RANGE_H
#define NEARCACHE_CORE_WRITE_RANGE_H

#include <linux/cache.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* log2 of the sectors of a region: 4 MiB, the largest block, so no block crosses a border. */
#define NC_WRITE_REGION_SHIFT	13
/* Number of trees for ranges within a region; a power of two. */
#define NC_WRITE_TREES		64U

/**
 * struct nc_write_range - sectors of one write in flight
 * @rb: node of nc_write_tree.root
 * @first: first sector
 * @last: last sector, inclusive
 * @subtree_last: highest @last below @rb
 *
 * @first and @last are constant while the range is in a tree.
 */
struct nc_write_range {
	struct rb_node rb;
	u64 first;
	u64 last;
	u64 subtree_last;
};

/**
 * struct nc_write_tree - some write ranges of a cache
 * @lock: protects the tree; innermost, taken in any context
 * @root: interval tree of struct nc_write_range
 */
struct nc_write_tree {
	spinlock_t lock;	/* protects the tree */
	struct rb_root_cached root;
} ____cacheline_aligned;

/**
 * struct nc_write_ranges - all write ranges of a cache
 * @within: ranges within one region, by the hash of the region
 * @across: ranges that cross a border of regions.  They are rare: at most one per 4 MiB of a
 *	sequential stream, and few of the short writes at random places
 */
struct nc_write_ranges {
	struct nc_write_tree within[NC_WRITE_TREES];
	struct nc_write_tree across;
};

void nc_write_ranges_init(struct nc_write_ranges *in);
bool nc_write_ranges_empty(const struct nc_write_ranges *in);
void nc_write_range_add(struct nc_write_ranges *in, struct nc_write_range *range);
void nc_write_range_remove(struct nc_write_ranges *in, struct nc_write_range *range);
bool nc_write_range_first(struct nc_write_ranges *in, u64 first, u64 last, u64 *found);
bool nc_write_range_alone(struct nc_write_ranges *in, const struct nc_write_range *range,
			  u64 first, u64 last);

#endif /* NEARCACHE_CORE_WRITE_RANGE_H */
