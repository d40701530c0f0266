// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ghost: when the blocks of a sample, cached or not, were last read.  A repeated read gives a
 * reuse distance.  The ghost is no list of evicted blocks, unlike the ghosts of other policies.
 *
 * When the table is half full, half of the blocks leave the sample.  The hash selects them, never
 * the age: a sample of young blocks has no long distances.  nc_ghost_expire() drops entries that
 * are too old to matter, and then enlarges the sample again.
 */
#ifdef __KERNEL__
#include <linux/minmax.h>
#endif

#include "evict/reuse_distance.h"

static void set_shift(struct nc_ghost *g, u32 shift)
{
	g->shift = shift;
	WRITE_ONCE(g->sampled, U32_MAX >> shift);
}

/* Set up a ghost.  @entries: NC_GHOST_BYTES, zeroed, owned by the caller.  @seed: random. */
void nc_ghost_init(struct nc_ghost *g, u64 *entries, u64 seed)
{
	g->entries = entries;
	g->seed = seed;
	g->used = 0;
	set_shift(g, 0);
}

static u64 entry_block(u64 entry)
{
	return (entry >> NC_GHOST_TICK_BITS) - 1;
}

static u32 entry_age(u64 entry, u32 now)
{
	return (now - (u32)entry) & NC_GHOST_TICK;
}

/* The factor differs from that of nc_ghost_hash(), so that sampled blocks spread over all sets. */
static u64 *set_of(const struct nc_ghost *g, u64 block)
{
	u64 mixed = (block ^ g->seed) * 0xd6e8feb86659fd93ULL;

	return g->entries + (mixed >> 32) % NC_GHOST_SETS * NC_GHOST_WAYS;
}

/* Drop entries that are not sampled any more or are older than @ticks. */
static void sweep_entries(struct nc_ghost *g, u32 now, u32 ticks)
{
	u32 i;

	for (i = 0; i < NC_GHOST_ENTRIES; i++) {
		u64 *entry = &g->entries[i];

		if (!*entry || (nc_ghost_samples(g, entry_block(*entry)) &&
				entry_age(*entry, now) <= ticks))
			continue;
		*entry = 0;
		g->used--;
	}
}

/* Find the entry of @block.  If it has none: a free entry of its set, or the oldest to replace. */
static u64 *place_of(const struct nc_ghost *g, u64 block, u32 now)
{
	u64 *set = set_of(g, block), *place = set;
	u32 i;

	for (i = 0; i < NC_GHOST_WAYS; i++) {
		if (set[i] >> NC_GHOST_TICK_BITS == block + 1)
			return &set[i];
		if (*place && (!set[i] || entry_age(set[i], now) > entry_age(*place, now)))
			place = &set[i];
	}
	return place;
}

/**
 * nc_ghost_read() - record a read of a sampled block
 * @g: ghost
 * @block: origin block
 * @now: tick
 *
 * Return: ticks since the previous read of the block; 0: same tick, or no previous read is known.
 */
u32 nc_ghost_read(struct nc_ghost *g, u64 block, u32 now)
{
	u64 *place = place_of(g, block, now), old = *place;

	*place = (block + 1) << NC_GHOST_TICK_BITS | (now & NC_GHOST_TICK);
	if (old && entry_block(old) == block) {
		u32 d = entry_age(old, now);

		/* @now is older than the entry: the difference wrapped, so it is no distance. */
		return d > NC_GHOST_TICK / 2 ? 0 : d;
	}
	if (!old && ++g->used > NC_GHOST_ENTRIES / 2 && g->shift < 31) {
		set_shift(g, g->shift + 1);
		sweep_entries(g, now, NC_GHOST_TICK);
	}
	return 0;
}

/**
 * nc_ghost_expire() - drop old entries, and sample more blocks instead
 * @g: ghost
 * @now: tick
 * @ticks: drop entries that are older
 *
 * Does nothing while the ghost samples all blocks.
 */
void nc_ghost_expire(struct nc_ghost *g, u32 now, u32 ticks)
{
	u32 used;

	if (!g->shift)
		return;
	sweep_entries(g, now, ticks);
	used = max(g->used, 1U);
	while (g->shift && used < NC_GHOST_ENTRIES / 8) {
		set_shift(g, g->shift - 1);
		/* Estimate: a sample of twice the size will use twice the entries. */
		used *= 2;
	}
}
