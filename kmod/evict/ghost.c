// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ghost.  A table of fixed size holds the sampled blocks; when it is half
 * full every second block leaves the sample for good (by its hash, never by its
 * age: a sample of the youngest would know no long distances).  When what it
 * holds has become too old to matter, the sample grows again.
 */
#ifdef __KERNEL__
#include <linux/minmax.h>
#endif

#include "evict/ghost.h"

static void set_shift(struct nc_ghost *g, u32 shift)
{
	g->shift = shift;
	WRITE_ONCE(g->sampled, U32_MAX >> shift);
}

/**
 * nc_ghost_init() - nothing was read yet
 * @g: ghost
 * @entries: NC_GHOST_BYTES, zeroed
 * @seed: random
 */
void nc_ghost_init(struct nc_ghost *g, u64 *entries, u64 seed)
{
	g->entries = entries;
	g->seed = seed;
	g->used = 0;
	set_shift(g, 0);
}

static u64 block_of(u64 entry)
{
	return (entry >> NC_GHOST_TICK_BITS) - 1;
}

static u32 age_of(u64 entry, u32 now)
{
	return (now - (u32)entry) & NC_GHOST_TICK;
}

/* Independent of the hash that chose the block. */
static u64 *set_of(const struct nc_ghost *g, u64 block)
{
	u64 mixed = (block ^ g->seed) * 0xd6e8feb86659fd93ULL;

	return g->entries + (mixed >> 32) % NC_GHOST_SETS * NC_GHOST_WAYS;
}

/* Keep what is sampled still, and was read at most @ticks ago. */
static void sweep(struct nc_ghost *g, u32 now, u32 ticks)
{
	u32 i;

	for (i = 0; i < NC_GHOST_ENTRIES; i++) {
		u64 *entry = &g->entries[i];

		if (!*entry || (nc_ghost_samples(g, block_of(*entry)) &&
				age_of(*entry, now) <= ticks))
			continue;
		*entry = 0;
		g->used--;
	}
}

/* Where @block is, or may be put: a free place, or that of the oldest of its set. */
static u64 *place_of(const struct nc_ghost *g, u64 block, u32 now)
{
	u64 *set = set_of(g, block), *place = set;
	u32 i;

	for (i = 0; i < NC_GHOST_WAYS; i++) {
		if (set[i] >> NC_GHOST_TICK_BITS == block + 1)
			return &set[i];
		if (*place && (!set[i] || age_of(set[i], now) > age_of(*place, now)))
			place = &set[i];
	}
	return place;
}

/**
 * nc_ghost_read() - a sampled block is read
 * @g: ghost
 * @block: origin block
 * @now: tick
 *
 * Return: ticks since it was read before; 0: in this tick, or it is not known.
 */
u32 nc_ghost_read(struct nc_ghost *g, u64 block, u32 now)
{
	u64 *place = place_of(g, block, now), old = *place;

	*place = (block + 1) << NC_GHOST_TICK_BITS | (now & NC_GHOST_TICK);
	if (old && block_of(old) == block) {
		u32 d = age_of(old, now);

		/* A clock that is behind looks like a nearly full turn. */
		return d > NC_GHOST_TICK / 2 ? 0 : d;
	}
	if (!old && ++g->used > NC_GHOST_ENTRIES / 2 && g->shift < 31) {
		set_shift(g, g->shift + 1);
		sweep(g, now, NC_GHOST_TICK);
	}
	return 0;
}

/**
 * nc_ghost_expire() - forget what was read long ago
 * @g: ghost
 * @now: tick
 * @ticks: what is older does not matter any more
 *
 * Only a ghost that had to leave out blocks forgets, and looks at more of them then.
 */
void nc_ghost_expire(struct nc_ghost *g, u32 now, u32 ticks)
{
	u32 used;

	if (!g->shift)
		return;
	sweep(g, now, ticks);
	used = max(g->used, 1U);
	while (g->shift && used < NC_GHOST_ENTRIES / 8) {
		set_shift(g, g->shift - 1);
		/* It will be. */
		used *= 2;
	}
}
