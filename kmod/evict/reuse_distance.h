/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ghost: a table of the last reads of a sample of all blocks, cached or not, which yields
 * reuse distances.  Its size is fixed and a hash picks the sample, so the ghost is as accurate for
 * 1 PB as for 100 MB.  Pure arithmetic: kernel, unit tests and a simulator compile this source.
 */
#ifndef NEARCACHE_EVICT_REUSE_DISTANCE_H
#define NEARCACHE_EVICT_REUSE_DISTANCE_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>
#else
#include "meta/format_user.h"
#endif

/* A set-associative table of 64 KiB, whatever the size of the cache. */
#define NC_GHOST_WAYS		16U
#define NC_GHOST_SETS		512U
#define NC_GHOST_ENTRIES	(NC_GHOST_WAYS * NC_GHOST_SETS)
#define NC_GHOST_BYTES		(NC_GHOST_ENTRIES * sizeof(u64))

/* An entry: tick of the last read in the low bits, block number plus one above these; 0 if free. */
#define NC_GHOST_TICK_BITS	24U
#define NC_GHOST_TICK		((1U << NC_GHOST_TICK_BITS) - 1)

/**
 * struct nc_ghost - last reads of a sample of the blocks
 * @entries: NC_GHOST_ENTRIES, in sets of NC_GHOST_WAYS; the owner allocates them, zeroed
 * @seed: random, so that a crafted dataset cannot avoid the sample
 * @shift: one of 2^@shift blocks is sampled
 * @sampled: highest hash of a sampled block
 * @used: entries in use
 *
 * The owner's lock protects all fields except the constant @seed.  nc_ghost_samples() loads
 * @sampled without the lock: an old value samples a block once too often or once too rarely.
 */
struct nc_ghost {
	u64 *entries;
	u64 seed;
	u32 shift;
	u32 sampled;
	u32 used;
};

void nc_ghost_init(struct nc_ghost *g, u64 *entries, u64 seed);
u32 nc_ghost_read(struct nc_ghost *g, u64 block, u32 now);
void nc_ghost_expire(struct nc_ghost *g, u32 now, u32 ticks);

/* Multiplicative hash: samples consecutive blocks evenly. */
static inline u32 nc_ghost_hash(const struct nc_ghost *g, u64 block)
{
	return (u32)(((block ^ g->seed) * 0x61c8864680b583ebULL) >> 32);
}

/* Is @block sampled? */
static inline bool nc_ghost_samples(const struct nc_ghost *g, u64 block)
{
	return nc_ghost_hash(g, block) <= READ_ONCE(g->sampled);
}

#endif /* NEARCACHE_EVICT_REUSE_DISTANCE_H */
