/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spread: which part of a dataset stays, when it does not fit and nothing of it was read
 * again yet.
 *
 * Each part is worth as much as another then, in hits.  But what was read first is whole files: in
 * the next epoch some files come from the cache and others from the origin, which has more to do
 * than it can while readers are at the latter, and nothing while they are at the former.  So what
 * stays is as much of each file: what has a hash below a level, which falls as more is read.  A
 * block above it goes for one below, which is read from the origin anyway.  Once the level suits
 * the dataset nothing more goes, whatever is read in whatever order.
 *
 * Pure arithmetic: the kernel and the simulator compile this very source.
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

/* What is near stays together, so that one request does not need both devices: so many bytes. */
#define NC_SPREAD_BYTES		1048576U
/* Of the level, so much at once. */
#define NC_SPREAD_PARTS		128U
/* Below that nothing is gained: the origin has to bring most of it.  And what was read once does
 * not all go for what will never be read again.
 */
#define NC_SPREAD_LEAST		(U32_MAX / 4)

/**
 * struct nc_spread - what is to stay
 * @seed: random, does not change
 * @shift: log2 of the blocks that stay together; does not change
 * @level: highest hash of what stays; U32_MAX: all did so far
 * @on: nothing was cached at first, and no job was told what is to be
 * @wanted: what is to stay found few free slots; a hint, set by readers
 *
 * @level is the reclaim worker's; who submits a job clears @on for good; hints for all others.
 */
struct nc_spread {
	u64 seed;
	u32 shift;
	u32 level;
	bool on;
	bool wanted;
};

/**
 * nc_spread_init() - all stays so far
 * @s: spread
 * @seed: random
 * @block_size: bytes
 */
static inline void nc_spread_init(struct nc_spread *s, u64 seed, u32 block_size)
{
	s->seed = seed;
	s->shift = block_size < NC_SPREAD_BYTES ? ilog2(NC_SPREAD_BYTES / block_size) : 0;
	s->level = U32_MAX;
	s->on = false;
	s->wanted = false;
}

/* Is @block one of those that stay?  The hash takes evenly from what is consecutive. */
static inline bool nc_spread_keeps(const struct nc_spread *s, u64 block)
{
	u64 hash = ((block >> s->shift) ^ s->seed) * 0x61c8864680b583ebULL;

	return hash >> 32 <= READ_ONCE(s->level);
}

/* Less stays from now on.  Returns whether it does. */
static inline bool nc_spread_narrow(struct nc_spread *s)
{
	if (s->level < NC_SPREAD_LEAST)
		return false;
	WRITE_ONCE(s->level, s->level - s->level / NC_SPREAD_PARTS);
	return true;
}

/* Is it in force?  Not when it is known what is read again. */
static inline bool nc_spread_rules(const struct nc_spread *s, const struct nc_policy *p)
{
	return READ_ONCE(s->on) && !nc_policy_knows(p);
}

/* Free slots that are made for what stays. */
static inline u32 nc_spread_enough(u32 low)
{
	return low / 2 > 2 ? low / 2 : 2;
}

#endif /* NEARCACHE_EVICT_SPREAD_H */
