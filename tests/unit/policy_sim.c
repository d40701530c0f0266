// SPDX-License-Identifier: GPL-2.0-only
/* See policy_sim.h.  Sizes and thresholds are those of kmod/cache.c and
 * kmod/reclaim.c, with one block as the unit of bytes.
 */
#include <stdlib.h>

#include "policy_sim.h"

struct sim *sim_new(const struct nc_policy_ops *ops, u32 slots, u32 blocks,
		    u64 seed)
{
	struct sim *s = calloc(1, sizeof(*s));
	u32 i;

	s->ops = ops;
	s->slots = slots;
	s->blocks = blocks;
	s->slot_of = malloc(blocks * sizeof(*s->slot_of));
	s->block_of = malloc(slots * sizeof(*s->block_of));
	s->stamp = calloc(slots, sizeof(*s->stamp));
	s->free = malloc(slots * sizeof(*s->free));
	s->tick_blocks = max(slots / NC_TICKS_PER_CACHE, 1U);
	s->random = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (i = 0; i < blocks; i++)
		s->slot_of[i] = -1;
	for (i = 0; i < slots; i++) {
		s->block_of[i] = -1;
		s->free[s->free_count++] = slots - 1 - i;
	}
	ops->init(&s->policy, slots, blocks / s->tick_blocks);
	return s;
}

void sim_free(struct sim *s)
{
	free(s->slot_of);
	free(s->block_of);
	free(s->stamp);
	free(s->free);
	free(s);
}

/* xorshift64*: the same numbers on each machine. */
u32 sim_random(struct sim *s, u32 below)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (u32)((s->random * 0x2545f4914f6cdd1dULL) >> 33) % below;
}

void sim_shuffle(struct sim *s, u32 *order, u32 count)
{
	u32 i, j, t;

	for (i = count - 1; i; i--) {
		j = sim_random(s, i + 1);
		t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
}

static u32 low_water(const struct sim *s)
{
	u32 n = s->slots / 64;

	return n < 1 ? 1 : n > 4096 ? 4096 : n;
}

static void evict(struct sim *s, u32 slot)
{
	s->ops->forget(&s->policy, s->stamp[slot]);
	s->slot_of[s->block_of[slot]] = -1;
	s->block_of[slot] = -1;
	s->stamp[slot] = 0;
	s->free[s->free_count++] = slot;
	s->evictions++;
}

static void reclaim(struct sim *s)
{
	u32 want = 2 * low_water(s), looked;
	u64 before = s->evictions;

	for (looked = 0; looked < s->slots && s->free_count < want; looked++) {
		u32 i = s->hand;

		s->hand = i + 1 < s->slots ? i + 1 : 0;
		if (s->block_of[i] >= 0 &&
		    s->ops->idle(&s->policy, s->stamp[i], s->now))
			evict(s, i);
	}
	if (s->evictions == before)
		s->reclaim_tick = s->now + 1;
}

static void reclaim_check(struct sim *s)
{
	if (s->free_count < low_water(s) && s->reclaim_tick != s->now + 1)
		reclaim(s);
}

static void fill(struct sim *s, u32 block)
{
	u32 slot;

	if (s->free_count) {
		slot = s->free[--s->free_count];
		s->slot_of[block] = (int)slot;
		s->block_of[slot] = (int)block;
		s->stamp[slot] = s->now & NC_STAMP_TICK;
	}
	reclaim_check(s);
}

/* Read one block; true when it was cached. */
bool sim_read(struct sim *s, u32 block)
{
	int slot = s->slot_of[block];

	s->now = (u32)(++s->clock / s->tick_blocks);
	if (slot < 0) {
		fill(s, block);
		return false;
	}
	if ((s->stamp[slot] ^ s->now) & NC_STAMP_TICK)
		s->stamp[slot] = s->ops->touch(&s->policy, s->stamp[slot], s->now);
	return true;
}
