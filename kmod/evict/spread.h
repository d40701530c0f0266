/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Retention threshold: the part of a dataset that stays when it does not fit and nothing of
 * it was read again yet.
 *
 * At that time every part yields the same number of hits.  But the blocks read first are whole
 * files.  In the next epoch some files would come from the cache and others from the origin: the
 * origin would be overloaded while readers are at the latter, and idle while they are at the
 * former.  So an equal part of each file stays: blocks with a hash below a threshold, which falls
 * as more is read.  A block above it is evicted for one below it, which has to be read from the
 * origin anyway.  Once the threshold fits the dataset, no more evictions follow, in any order of
 * reads.
 *
 * Pure arithmetic: kernel and simulator compile this source.
 */
#ifndef NEARCACHE_EVICT_SPREAD_H
#define NEARCACHE_EVICT_SPREAD_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/types.h>
#else
#include "meta/format_user.h"
#endif

#include "evict/keep.h"

/* Bytes of adjacent blocks that share a hash, so that few requests need both devices. */
#define NC_SPREAD_BYTES		1048576U
/* The threshold falls by 1 / NC_SPREAD_PARTS at a time. */
#define NC_SPREAD_PARTS		128U
/* Lowest threshold: below it the origin has to deliver most data anyway, and data that was read
 * once must not all give way to data that will never be read again.
 */
#define NC_SPREAD_LEAST		(U32_MAX / 4)

/**
 * struct nc_spread - retention threshold of a cache
 * @seed: random, constant
 * @shift: log2 of the blocks that share a hash; constant
 * @level: the threshold: highest hash of blocks that stay; U32_MAX: all stay
 * @on: the cache started empty, and no prefetch job was submitted
 * @wanted: a block below the threshold found few free slots; a hint, set by readers
 *
 * The reclaim worker owns @level.  The submission of a job clears @on permanently.  For all
 * others they are hints.
 */
struct nc_spread {
	u64 seed;
	u32 shift;
	u32 level;
	bool on;
	bool wanted;
};

/* Keep all blocks at first.  @seed: random.  @block_size: bytes. */
static inline void nc_spread_init(struct nc_spread *s, u64 seed, u32 block_size)
{
	s->seed = seed;
	s->shift = block_size < NC_SPREAD_BYTES ? ilog2(NC_SPREAD_BYTES / block_size) : 0;
	s->level = U32_MAX;
	s->on = false;
	s->wanted = false;
}

/* Is @block below the threshold?  The hash selects consecutive blocks evenly. */
static inline bool nc_spread_keeps(const struct nc_spread *s, u64 block)
{
	u64 hash = ((block >> s->shift) ^ s->seed) * 0x61c8864680b583ebULL;

	return hash >> 32 <= READ_ONCE(s->level);
}

/* Lower the retention threshold.  Returns false if it is already at its minimum. */
static inline bool nc_spread_narrow(struct nc_spread *s)
{
	if (s->level < NC_SPREAD_LEAST)
		return false;
	WRITE_ONCE(s->level, s->level - s->level / NC_SPREAD_PARTS);
	return true;
}

/* Does the threshold apply?  Not once the policy has seen reuse. */
static inline bool nc_spread_rules(const struct nc_spread *s, const struct nc_policy *p)
{
	return READ_ONCE(s->on) && !nc_policy_knows(p);
}

/* Number of free slots to make for blocks that stay. */
static inline u32 nc_spread_enough(u32 low)
{
	return low / 2 > 2 ? low / 2 : 2;
}

#endif /* NEARCACHE_EVICT_SPREAD_H */
