// SPDX-License-Identifier: GPL-2.0-only
/* Simulated cache for tests of the eviction policy.  The length of a tick and the water marks are
 * those of kmod/cache.c and kmod/evict/free_slots.c, counted in sub-blocks instead of bytes.
 */
#include <assert.h>
#include <stdlib.h>

#include "policy_sim.h"

struct sim *sim_new_subs(const struct nc_policy_ops *ops, u32 slots, u32 blocks,
			 u32 subs, u64 seed)
{
	struct sim *s = calloc(1, sizeof(*s));
	u32 i;

	s->ops = ops;
	s->slots = slots;
	s->blocks = blocks;
	s->subs = subs;
	s->slot_of = malloc(blocks * sizeof(*s->slot_of));
	s->block_of = malloc(slots * sizeof(*s->block_of));
	s->valid = calloc(slots, sizeof(*s->valid));
	s->stamp = calloc(slots, sizeof(*s->stamp));
	s->free = malloc(slots * sizeof(*s->free));
	s->ghost = calloc(NC_GHOST_ENTRIES, sizeof(*s->ghost));
	s->tick_reads = max(slots * subs / NC_TICKS_PER_CACHE, subs);
	for (i = 0; i < blocks; i++)
		s->slot_of[i] = -1;
	for (i = 0; i < slots; i++) {
		s->block_of[i] = -1;
		s->free[s->free_count++] = slots - 1 - i;
	}
	ops->init(&s->policy, slots, (u64)blocks * subs / s->tick_reads, s->ghost, seed);
	return s;
}

struct sim *sim_new(const struct nc_policy_ops *ops, u32 slots, u32 blocks,
		    u64 seed)
{
	return sim_new_subs(ops, slots, blocks, 1, seed);
}

void sim_free(struct sim *s)
{
	free(s->slot_of);
	free(s->block_of);
	free(s->valid);
	free(s->stamp);
	free(s->free);
	free(s->ghost);
	free(s);
}

static u32 low_water(const struct sim *s)
{
	u32 n = s->slots / 64;

	return n < 1 ? 1 : n > 4096 ? 4096 : n;
}

/* Evict the block in @slot; the slot must hold one. */
void sim_evict(struct sim *s, u32 slot)
{
	assert(s->block_of[slot] >= 0);
	s->slot_of[s->block_of[slot]] = -1;
	s->block_of[slot] = -1;
	s->valid[slot] = 0;
	s->stamp[slot] = 0;
	s->free[s->free_count++] = slot;
	s->evictions++;
}

static void reclaim(struct sim *s)
{
	u32 want = max(2 * low_water(s), min(32U, s->slots / 8)), looked;
	u64 before = s->evictions;

	for (looked = 0; looked < s->slots && s->free_count < want; looked++) {
		u32 i = s->hand;

		s->hand = i + 1 < s->slots ? i + 1 : 0;
		if (s->block_of[i] >= 0 &&
		    s->ops->idle(&s->policy, s->stamp[i], s->now))
			sim_evict(s, i);
	}
	if (s->evictions == before)
		s->reclaim_tick = s->now + 1;
}

static void reclaim_check(struct sim *s)
{
	if (s->free_count < low_water(s) && s->reclaim_tick != s->now + 1)
		reclaim(s);
}

static void see(struct sim *s, u32 block, bool cached)
{
	if (nc_ghost_samples(&s->policy.ghost, block))
		s->ops->read(&s->policy, block, s->now, cached);
}

static void fill(struct sim *s, u32 block, u32 sub)
{
	int slot = s->slot_of[block];

	see(s, block, slot >= 0);
	if (slot < 0 && s->free_count) {
		slot = (int)s->free[--s->free_count];
		s->slot_of[block] = slot;
		s->block_of[slot] = (int)block;
	}
	if (slot >= 0) {
		s->valid[slot] |= 1ULL << sub;
		s->stamp[slot] = (s->stamp[slot] & NC_STAMP_REUSED) |
				 (s->now & NC_STAMP_TICK);
	}
	reclaim_check(s);
}

/* Read one sub-block; return true on a hit. */
bool sim_read_sub(struct sim *s, u32 block, u32 sub)
{
	int slot = s->slot_of[block];

	s->now = (u32)(++s->clock / s->tick_reads);
	if (slot < 0 || !(s->valid[slot] >> sub & 1)) {
		fill(s, block, sub);
		return false;
	}
	if ((s->stamp[slot] ^ s->now) & NC_STAMP_TICK) {
		s->stamp[slot] = (s->now & NC_STAMP_TICK) | NC_STAMP_REUSED;
		see(s, block, true);
	}
	return true;
}

/* Read sub-block 0 of a block; return true on a hit. */
bool sim_read(struct sim *s, u32 block)
{
	return sim_read_sub(s, block, 0);
}

/* Read @reads in order, each as block * @s->subs + sub-block; return the number of hits. */
u32 sim_run(struct sim *s, const u32 *reads, u32 count)
{
	u32 i, hits = 0;

	for (i = 0; i < count; i++)
		hits += sim_read_sub(s, reads[i] / s->subs, reads[i] % s->subs);
	return hits;
}

/* Count the blocks with a slot among @count blocks from @first on. */
u32 sim_cached(const struct sim *s, u32 first, u32 count)
{
	u32 i, cached = 0;

	for (i = 0; i < count; i++)
		cached += s->slot_of[first + i] >= 0;
	return cached;
}
