/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Eviction policy.  Pure arithmetic on a few words: kernel, unit tests and a simulator
 * compile this source.
 */
#ifndef NEARCACHE_EVICT_DEFAULT_POLICY_H
#define NEARCACHE_EVICT_DEFAULT_POLICY_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "meta/format_user.h"
#endif

#include "evict/reuse_distance.h"

/*
 * Stamp of a slot: the tick of its last use in the low 15 bits, and whether it was used
 * again since it was filled.
 */
#define NC_STAMP_TICK	0x7fffU
#define NC_STAMP_REUSED	0x8000U
/* Initial stamp of a slot that a write fills: this many ticks ahead, so that the first read
 * sees another tick.
 */
#define NC_STAMP_AHEAD	8
/* The policy never acts on longer distances: ticks wrap at 15 bits. */
#define NC_STAMP_FAR	0x7000U

/* Ticks per cache size of bytes read through the device: 6 % resolution of the idle
 * distance, and the 15-bit tick wraps only after 2048 cache sizes.
 */
#define NC_TICKS_PER_CACHE	16

/* Number of distance classes, 8 for each power of two. */
#define NC_DISTANCES		104U

/* Whether a block was cached when it was read again. */
enum nc_where { NC_OUTSIDE, NC_CACHED, NC_WHERE };

/**
 * struct nc_distances - reuse distances seen in an interval
 * @mass: per class: sum of the distances
 * @total: sum of @mass
 * @blocks: number of blocks that the sampled ones represent
 * @longest: in ticks
 */
struct nc_distances {
	u64 mass[NC_DISTANCES];
	u64 total;
	u64 blocks;
	u32 longest;
};

/**
 * struct nc_reuses - blocks read again in an interval
 * @ticks: its length
 * @of: distances of uncached and of cached blocks
 */
struct nc_reuses {
	u32 ticks;
	struct nc_distances of[NC_WHERE];
};

/**
 * struct nc_policy - state of the eviction policy
 * @ghost: see ghost.h
 * @slots: cache blocks
 * @never_seen: last resort while nothing is known: idle distance in ticks
 * @resort: last resort learnt from @seen, in ticks
 * @limit: a block idle for longer will not be read again; 0: not known yet
 * @behind: ticks by which the cut is behind the clock
 * @cut: tick; a block not used since is idle
 * @left: tick; a block not used since belongs to a dataset that was left
 * @collapses: number of datasets that were left
 * @alive: tick behind the last one in which the cached dataset was read as a whole
 * @living: decaying sum of the distances of reuses in the cache
 * @living_last: tick of the last such reuse
 * @evidence: sum of the distances of uncached blocks that were read twice since @alive
 * @patience: longest absence after which a dataset considered left was read again, in ticks
 * @regret: sum of the distances of its blocks in this beat
 * @regret_longest: longest of them
 * @beat: ticks between two evaluations
 * @beat_start: tick at which the beat began
 * @expired: tick of the last expiry of the ghost
 * @knows: in some beat an eighth of the cached blocks was live
 * @ripe: @limit was learnt from the present @seen
 * @now: reuses of this beat
 * @seen: of this window and of the previous one; beats with few live blocks do not
 *	count
 * @sum: scratch space for the sum of @seen
 *
 * The owner's lock protects all fields.  Eviction reads @limit, @resort, @cut, @left and @knows
 * without it: it may combine old and new values and find a block idle a little early or late.
 * While there is no limit, @cut and @left are too old to make a block idle, even if read together
 * with a new limit.
 */
struct nc_policy {
	struct nc_ghost ghost;
	u64 slots;
	u32 never_seen;
	u32 resort;
	u32 limit;
	u32 behind;
	u32 cut;
	u32 left;
	u32 collapses;
	u32 alive;
	u64 living;
	u32 living_last;
	u64 evidence;
	u32 patience;
	u32 regret_longest;
	u64 regret;
	u32 beat;
	u32 beat_start;
	u32 expired;
	bool knows;
	bool ripe;
	struct nc_reuses now;
	struct nc_reuses seen[2];
	struct nc_reuses sum;
};

/**
 * struct nc_policy_ops - an eviction policy
 * @name: for logs and status
 * @init: @slots cache blocks, origin of @origin_ticks; @ghost: NC_GHOST_BYTES, zeroed
 * @read: a block that nc_ghost_samples() is read at tick @now, for the first time or again
 *	in this tick; @cached: it has a slot
 * @idle: may a slot with @stamp be evicted at tick @now?
 *
 * The read path calls read with the owner's lock held.  The one reclaim worker calls idle
 * without it.
 */
struct nc_policy_ops {
	const char *name;
	void (*init)(struct nc_policy *p, u64 slots, u64 origin_ticks, u64 *ghost, u64 seed);
	void (*read)(struct nc_policy *p, u64 block, u32 now, bool cached);
	bool (*idle)(const struct nc_policy *p, u16 stamp, u32 now);
};

extern const struct nc_policy_ops nc_policy_keep;

/* Has the policy seen reuse?  A hint, without the lock. */
static inline bool nc_policy_knows(const struct nc_policy *p)
{
	return READ_ONCE(p->knows) || READ_ONCE(p->limit);
}

/*
 * Retention selects the part of a too large dataset that stays, before any block is read again.
 *
 * Until then all parts are worth the same number of hits.  But the blocks that are read first form
 * whole files: in the next epoch some files would come from the cache and others from the origin.
 * The origin would be overloaded during the latter and idle during the former.  So the same
 * fraction of each file stays: the blocks whose hash is at most a threshold.  The threshold falls
 * while more data is read.  A block below it, just read from the origin, replaces one above it.
 * Once the threshold fits the dataset, evictions end, whatever the order of reads.
 */

/* Bytes that share a hash, so that one request does not need both devices. */
#define NC_RETAIN_BYTES		1048576U
/* One step lowers the threshold by a NC_RETAIN_PARTS-th. */
#define NC_RETAIN_PARTS		128U
/* Lowest threshold.  A lower one gains nothing: most of the dataset comes from the origin anyway,
 * and blocks that are never read again would replace cached ones.
 */
#define NC_RETAIN_LEAST		(U32_MAX / 4)

/**
 * struct nc_retain - retention
 * @seed: random, constant
 * @shift: log2 of the blocks that share a hash, constant
 * @threshold: highest hash of a block that stays; U32_MAX: all blocks stay
 * @on: the cache started empty, and no prefetch job was submitted
 * @wanted: a block below the threshold found few free slots; a hint, set by readers
 *
 * The reclaim worker owns @threshold; submitting a job clears @on for the rest of the cache's life.
 * Others read both as hints.
 */
struct nc_retain {
	u64 seed;
	u32 shift;
	u32 threshold;
	bool on;
	bool wanted;
};

static inline void retain_init(struct nc_retain *r, u64 seed, u32 block_size)
{
	r->seed = seed;
	r->shift = block_size < NC_RETAIN_BYTES ? ilog2(NC_RETAIN_BYTES / block_size) : 0;
	r->threshold = U32_MAX;
	r->on = false;
	r->wanted = false;
}

/* Does @block stay?  The hash samples consecutive blocks evenly. */
static inline bool retain_keeps(const struct nc_retain *r, u64 block)
{
	u64 hash = ((block >> r->shift) ^ r->seed) * 0x61c8864680b583ebULL;

	return hash >> 32 <= READ_ONCE(r->threshold);
}

/* Lower the retention threshold.  Returns false if it is already at its minimum. */
static inline bool retain_lower(struct nc_retain *r)
{
	if (r->threshold < NC_RETAIN_LEAST)
		return false;
	WRITE_ONCE(r->threshold, r->threshold - r->threshold / NC_RETAIN_PARTS);
	return true;
}

/* Does retention decide?  Only until the policy has seen reuse. */
static inline bool retain_in_force(const struct nc_retain *r, const struct nc_policy *p)
{
	return READ_ONCE(r->on) && !nc_policy_knows(p);
}

/* Number of free slots that reclaim provides for retained blocks. */
static inline u32 retain_free_slots(u32 low)
{
	return low / 2 > 2 ? low / 2 : 2;
}

#endif /* NEARCACHE_EVICT_DEFAULT_POLICY_H */
