/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write ranges: the sectors of the origin that writes, discards, write-zeroes and
 * invalidations are changing.
 */
#ifndef NEARCACHE_CORE_WRITE_RANGE_H
#define NEARCACHE_CORE_WRITE_RANGE_H

#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct nc_range - sectors of one write in flight
 * @rb: in the tree
 * @first: first sector
 * @last: last sector, inclusive
 * @subtree_last: highest @last below @rb
 *
 * @first and @last are constant while the range is in the tree.
 */
struct nc_range {
	struct rb_node rb;
	u64 first;
	u64 last;
	u64 subtree_last;
};

/**
 * struct nc_inflight - all write ranges of a cache
 * @lock: protects the tree; innermost, taken in any context
 * @root: struct nc_range by @first
 */
struct nc_inflight {
	spinlock_t lock;	/* see above */
	struct rb_root_cached root;
};

void nc_inflight_init(struct nc_inflight *in);
void nc_inflight_add(struct nc_inflight *in, struct nc_range *range);
void nc_inflight_remove(struct nc_inflight *in, struct nc_range *range);
bool nc_inflight_first(struct nc_inflight *in, u64 first, u64 last, u64 *found);
bool nc_inflight_alone(struct nc_inflight *in, const struct nc_range *range,
		       u64 first, u64 last);

static inline bool nc_inflight_empty(const struct nc_inflight *in)
{
	return !READ_ONCE(in->root.rb_root.rb_node);
}

#endif /* NEARCACHE_CORE_WRITE_RANGE_H */
