/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The eviction policy "keep", and retention.  Pure arithmetic on a few words: kernel, unit tests
 * and a simulator compile this source.
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
 * Stamp of a slot.  Low 15 bits: tick of its last use.  NC_STAMP_REUSED: a reader used the slot
 * again after it was filled.
 */
#define NC_STAMP_TICK	0x7fffU
#define NC_STAMP_REUSED	0x8000U
/* A write stamps its slot this many ticks ahead: so the first read sees another tick and sets
 * NC_STAMP_REUSED.
 */
#define NC_STAMP_AHEAD	8
/* The policy ignores distances of at least this many ticks: the 15-bit tick may have wrapped. */
#define NC_STAMP_FAR	0x7000U

/* Ticks since @stamp.  A stamp may be ahead of the caller's clock: the difference then wraps to
 * nearly a full turn, for which this returns 0.
 */
static inline u32 nc_stamp_distance(u16 stamp, u32 now)
{
	u32 d = (now - stamp) & NC_STAMP_TICK;

	return d < NC_STAMP_FAR ? d : 0;
}

/* Ticks of the policy's clock while a cache size of bytes is read through the device.  So a tick is
 * 6 % of the cache, and the 15-bit tick wraps only after 2048 cache sizes.
 */
#define NC_TICKS_PER_CACHE	16

/* Number of classes of a histogram of distances, 8 for each power of two. */
#define NC_DISTANCES		104U

/* Did a block have a slot when it was read again? */
enum nc_where { NC_OUTSIDE, NC_CACHED, NC_WHERE };

/**
 * struct nc_distances - histogram of the reuse distances seen in an interval, in ticks
 * @mass: sum of the distances in each class, extrapolated from the sample to all blocks
 * @total: sum of @mass
 * @blocks: number of distances, extrapolated in the same way
 * @longest: longest distance
 */
struct nc_distances {
	u64 mass[NC_DISTANCES];
	u64 total;
	u64 blocks;
	u32 longest;
};

/**
 * struct nc_reuses - blocks read again in an interval
 * @ticks: length of the interval
 * @of: distances of uncached and of cached blocks, by enum nc_where
 */
struct nc_reuses {
	u32 ticks;
	struct nc_distances of[NC_WHERE];
};

/**
 * struct nc_policy - state of the eviction policy
 * @ghost: reuse distances of a sample of the blocks, see reuse_distance.h
 * @slots: number of slots
 * @never_seen: initial value of @resort, a little more than twice the size of the origin, in ticks
 * @resort: a block not used for more ticks is idle, whatever @cut and @left
 * @limit: ticks without a use after which a block will not be read again; 0: not known yet
 * @behind: ticks by which @cut is behind the clock
 * @cut: tick; a block not used since is idle
 * @left: tick; a block not used since belongs to a dataset that readers left
 * @collapses: number of datasets that readers left
 * @alive: tick after the last tick in which the cached dataset was read as a whole
 * @living: decaying sum of the distances of reuses of cached blocks
 * @living_last: tick of the last reuse of a cached block
 * @evidence: sum of the distances of uncached blocks that were read twice since @alive
 * @patience: longest time in ticks after which readers came back to a dataset that they had left
 * @regret: sum of the distances of reuses that reach back before @left, in this beat
 * @regret_longest: longest distance in @regret
 * @beat: ticks between two evaluations of the reuses; such an interval is a beat
 * @beat_start: tick at which the beat began
 * @expired: tick of the last nc_ghost_expire()
 * @knows: in some beat as many cached blocks as an eighth of the slots were live
 * @ripe: the present window was long enough to learn @limit
 * @now: reuses of this beat
 * @seen: reuses of this window and of the previous one; a window is a series of beats, not
 *	counting beats with few live blocks
 * @sum: scratch space for the sum of @seen
 *
 * The owner's lock protects all fields.  Eviction reads @limit, @resort, @cut, @left and @knows
 * without the lock: it may combine old and new values, and find a block idle a little early or
 * late.  While @limit is 0, @cut and @left are too old to make a block idle, so a new limit with
 * an old @cut is harmless.
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
 * @init: set up @p for @slots slots and an origin of @origin_ticks; @ghost: NC_GHOST_BYTES, zeroed
 * @read: report a read at tick @now of a block for which nc_ghost_samples() is true; a block may be
 *	reported several times in a tick; @cached: the block has a slot
 * @idle: may a slot with @stamp be evicted at tick @now?
 *
 * The read path calls @read with the owner's lock held.  The one reclaim worker calls @idle
 * without the lock.
 */
struct nc_policy_ops {
	const char *name;
	void (*init)(struct nc_policy *p, u64 slots, u64 origin_ticks, u64 *ghost, u64 seed);
	void (*read)(struct nc_policy *p, u64 block, u32 now, bool cached);
	bool (*idle)(const struct nc_policy *p, u16 stamp, u32 now);
};

extern const struct nc_policy_ops nc_policy_keep;

/* Has the policy seen reuse?  Reads without the owner's lock, so a hint. */
static inline bool nc_policy_knows(const struct nc_policy *p)
{
	return READ_ONCE(p->knows) || READ_ONCE(p->limit);
}

/*
 * Retention: in the first epoch over a dataset that exceeds the cache, select the part that stays.
 *
 * Until a block is read again, all parts are worth the same number of hits.  But the blocks that
 * are read first form whole files.  If these stayed, the next epoch would read some files from the
 * cache and others from the origin, which would be overloaded at times and idle at others.  So the
 * same fraction of each file stays: the blocks whose hash is at most a threshold.  The threshold
 * falls while more data is read.  A newly read block at or below the threshold replaces a cached
 * block above it.  Once the threshold fits the dataset, evictions end, whatever the order of reads.
 */

/* Adjacent bytes that stay or leave together, so that one request rarely needs both devices. */
#define NC_RETAIN_BYTES		1048576U
/* One step lowers the threshold by a NC_RETAIN_PARTS-th. */
#define NC_RETAIN_PARTS		128U
/* Lowest threshold: a quarter of the dataset.  A lower threshold gains nothing: most reads go to
 * the origin anyway, and blocks that are never read again would replace cached blocks.
 */
#define NC_RETAIN_LEAST		(U32_MAX / 4)

/**
 * struct nc_retain - retention
 * @seed: random seed of the hash, constant
 * @shift: log2 of the number of adjacent blocks that share a hash, constant
 * @threshold: highest hash of a block that stays; U32_MAX: all blocks stay
 * @on: the cache started empty, and no prefetch job that fits into the cache was submitted
 * @wanted: a new block at or below @threshold found few free slots, or a block of the prefetch
 *	reserve stays, so reclaim must evict; a hint
 *
 * Only the reclaim worker changes @threshold.  The submission of a job that fits into the cache
 * clears @on for the rest of the cache's life.  Readers of @threshold and @on take no lock and
 * treat both as hints.
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

/* Does retention keep @block?  The multiplicative hash keeps the same part of any run of blocks. */
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

/* Does retention, not the policy, select victims?  Only until the policy has seen reuse. */
static inline bool retain_in_force(const struct nc_retain *r, const struct nc_policy *p)
{
	return READ_ONCE(r->on) && !nc_policy_knows(p);
}

/* Number of free slots for new blocks that retain_keeps() selects.  @low: low water mark. */
static inline u32 retain_free_slots(u32 low)
{
	return low / 2 > 2 ? low / 2 : 2;
}

#endif /* NEARCACHE_EVICT_DEFAULT_POLICY_H */
