/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What may be evicted.  Pure arithmetic on a few words: the kernel, the unit
 * tests and a simulator compile this very source.
 */
#ifndef NEARCACHE_EVICT_KEEP_H
#define NEARCACHE_EVICT_KEEP_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "meta/format_user.h"
#endif

#include "evict/ghost.h"

/*
 * A slot's stamp: the clock tick of its last use in the low 15 bits, and
 * whether it was used again since it was filled.
 */
#define NC_STAMP_TICK	0x7fffU
#define NC_STAMP_REUSED	0x8000U
/* Ticks that the stamp of a slot never read lies ahead of the clock: its first
 * read differs from it.
 */
#define NC_STAMP_AHEAD	8
/* Distances from here on are never acted upon: ticks wrap at 15 bits. */
#define NC_STAMP_FAR	0x7000U

/* The clock ticks NC_TICKS_PER_CACHE times while reads of one cache size pass
 * through the device: 6 % resolution of the idle distance, and the 15-bit tick
 * wraps only after 2048 cache sizes.
 */
#define NC_TICKS_PER_CACHE	16

/* Distances are kept in classes, 8 for each power of two. */
#define NC_DISTANCES		104U

/* Where a block was when it was read again. */
enum nc_where { NC_OUTSIDE, NC_CACHED, NC_WHERE };

/**
 * struct nc_distances - reuse distances that were seen in some time
 * @mass: per class of distance: their sum
 * @total: of @mass
 * @blocks: how many blocks they stand for
 * @longest: in ticks
 */
struct nc_distances {
	u64 mass[NC_DISTANCES];
	u64 total;
	u64 blocks;
	u32 longest;
};

/**
 * struct nc_reuses - what was read again in some time
 * @ticks: how long that was
 * @of: by where the blocks were
 */
struct nc_reuses {
	u32 ticks;
	struct nc_distances of[NC_WHERE];
};

/**
 * struct nc_policy - state of the eviction policy
 * @ghost: see ghost.h
 * @slots: cache blocks
 * @never_seen: idle distance, in ticks, that counts as idle while nothing is known
 * @resort: the same by what is known
 * @limit: what is idle for longer is not going to be read again; 0: not known yet
 * @behind: ticks by which the cut is behind the clock
 * @cut: tick; what was not used since is idle
 * @left: tick; what was not used since belongs to a dataset that was left
 * @collapses: how often one was
 * @alive: tick behind the last in which what is cached was seen to be read as a whole
 * @living: sum of the distances of what was read again in the cache, a while ago worth less
 * @living_last: tick at which something of it was last read again
 * @evidence: sum of the distances of blocks outside that were read twice since @alive
 * @patience: ticks after which a dataset was read again that had been taken for left
 * @regret: sum of the distances of its blocks in the beat
 * @regret_longest: longest of them
 * @beat: ticks between two looks at all this
 * @beat_start: tick at which the beat began
 * @expired: tick at which the ghost last forgot what is old
 * @knows: in some beat an eighth of what is cached was alive
 * @ripe: @limit was learnt from @seen as it is
 * @now: reuses of the beat
 * @seen: of this window and of the last one; beats in which little was read again are no
 *	part of them
 * @sum: room for the sum of @seen
 *
 * All belongs to the owner's lock.  Eviction reads @limit, @resort, @cut, @left and @knows without
 * it: it may see one of them newer than the other, and finds a block idle a little earlier or
 * later.  As long as there is no limit, @cut and @left are so long ago that one without them makes
 * nothing idle.
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
 * @init: @slots cache blocks, origin @origin_ticks long; @ghost: NC_GHOST_BYTES, zeroed
 * @read: a block that nc_ghost_samples() is read at tick @now, the first time in this tick or
 *	once more in it; @cached: it has a slot
 * @idle: may a slot with @stamp be evicted at tick @now?
 *
 * read is called with the owner's lock held, from the read path.  idle is called by
 * the one reclaim worker, without.
 */
struct nc_policy_ops {
	const char *name;
	void (*init)(struct nc_policy *p, u64 slots, u64 origin_ticks, u64 *ghost, u64 seed);
	void (*read)(struct nc_policy *p, u64 block, u32 now, bool cached);
	bool (*idle)(const struct nc_policy *p, u16 stamp, u32 now);
};

extern const struct nc_policy_ops nc_policy_keep;

/* Was it seen that what is read is read again?  A hint, without the lock. */
static inline bool nc_policy_knows(const struct nc_policy *p)
{
	return READ_ONCE(p->knows) || READ_ONCE(p->limit);
}

#endif /* NEARCACHE_EVICT_KEEP_H */
